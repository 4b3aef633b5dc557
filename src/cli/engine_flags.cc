#include "cli/engine_flags.h"

#include <algorithm>

#include "model/describe.h"
#include "world/machine.h"

namespace samebit::cli {
namespace {

// A value of a short list of whole numbers.
Flag OneOf(std::string name, std::optional<uint32_t>* target, std::vector<uint32_t> allowed, std::string help) {
  return {.name = std::move(name), .value = "N", .help = std::move(help), .set = [=](std::string_view text) -> Status {
            std::string list;
            for (const uint32_t value : allowed) {
              if (text == std::to_string(value)) {
                *target = value;
                return {};
              }
              list += (list.empty() ? "" : ", ") + std::to_string(value);
            }
            return Error{ErrorCode::kInvalidArgument, "expected one of " + list + ", found " + model::Printable(text)};
          }};
}

Flag CacheTypeFlag(std::optional<std::string>* target) {
  return {.name = "--kv",
          .value = "f16|f32",
          .help = "number format of the KV cache (default f16)",
          .set = [=](std::string_view text) -> Status {
            if (text != "f16" && text != "f32") {
              return Error{ErrorCode::kInvalidArgument, "expected f16 or f32, found " + model::Printable(text)};
            }
            *target = std::string(text);
            return {};
          }};
}

Flag IsaFlag(std::optional<std::string>* target) {
  return {.name = "--isa",
          .value = "NAME",
          .help = "instruction set: scalar, avx2, avx512, avx512vnni, neon (default: the fastest here)",
          .set = [=](std::string_view text) -> Status {
            ASSIGN_OR_RETURN([[maybe_unused]] const kernels::Isa isa, kernels::ParseIsa(text));
            *target = std::string(text);
            return {};
          }};
}

}  // namespace

std::vector<Flag> EngineFlags::machine_flags() {
  return Grouped("Machine",
                 {Whole("--threads", &threads, 1, 256, "worker threads (default: the cores this process may use)"),
                  IsaFlag(&isa),
                  Text("--packed-cache", "FOLDER", &packed_cache,
                       "keep packed weights in a folder, and map them from there (default: pack at every start)")});
}

std::vector<Flag> EngineFlags::cache_flags() {
  return Grouped(
      "Engine (none of these changes an answer; --kv is part of what is computed)",
      {CacheTypeFlag(&cache_type),
       OneOf("--page-tokens", &page_tokens, {16, 32, 64, 128, 256}, "tokens of a KV page (default 64)"),
       Whole("--prefill-chunk", &prefill_chunk, 1, 4096, "prompt tokens of one forward pass (default 256)"),
       Whole("--prefill-beside-decodes", &prefill_beside_decodes, 1, 4096,
             "prompt tokens of a forward pass that also continues answers (default 64)"),
       Whole("--context", &context, 1, 1 << 20, "tokens of prompt and answer together (default: the model's)"),
       Whole("--cache-mib", &cache_mib, 1, 1 << 20, "KV budget in MiB (default 256)"),
       Switch("--no-prefix-cache", &no_prefix_cache, true, "compute every prompt anew"),
       OneOf("--tensor-parallel", &tensor_parallel, {1, 2, 4, 8},
             "ranks of the reduction tree, in this process (default 1)")});
}

Result<engine::EngineOptions> EngineFlags::Resolve() const {
  engine::EngineOptions options;
  options.threads = threads.value_or(std::min<uint32_t>(world::CoresAvailable(), 256));
  options.current_cpu = world::CurrentCpu;
  options.isa = kernels::BestIsa();
  if (isa) {
    ASSIGN_OR_RETURN(options.isa, kernels::ParseIsa(*isa));
    const std::vector<kernels::Isa> here = kernels::AvailableIsas();
    if (std::find(here.begin(), here.end(), options.isa) == here.end()) {
      std::string list;
      for (const kernels::Isa one : here) list += (list.empty() ? "" : ", ") + std::string(kernels::IsaName(one));
      return Error{ErrorCode::kInvalidArgument, "--isa: this machine has no " + *isa + "; choose one of " + list};
    }
  }
  if (cache_type) options.cache_type = *cache_type == "f32" ? kernels::CacheType::kF32 : kernels::CacheType::kF16;
  options.page_tokens = page_tokens.value_or(options.page_tokens);
  options.prefill_chunk = prefill_chunk.value_or(options.prefill_chunk);
  options.prefill_beside_decodes = prefill_beside_decodes.value_or(options.prefill_beside_decodes);
  options.step_rows_max = std::max(options.step_rows_max, options.prefill_chunk);
  options.context_max = context.value_or(0);
  if (cache_mib) options.cache_bytes = uint64_t{*cache_mib} << 20;
  options.prefix_cache = !no_prefix_cache;
  options.tensor_parallel = tensor_parallel.value_or(1);
  return options;
}

LoadOptions EngineFlags::Loading(const std::string& path, const engine::EngineOptions& options) const {
  return {.path = path, .isa = options.isa, .threads = options.threads, .packed_cache = packed_cache};
}

}  // namespace samebit::cli
