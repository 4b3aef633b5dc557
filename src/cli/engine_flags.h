// The flags that set up the engine, shared by run, bench and replay. None of them can move a bit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/flag_table.h"
#include "cli/load_model.h"
#include "engine/options.h"

namespace samebit::cli {

struct EngineFlags {
  std::optional<uint32_t> threads, page_tokens, prefill_chunk, prefill_beside_decodes, context, cache_mib, tensor_parallel;
  std::optional<std::string> isa, cache_type, packed_cache;
  bool no_prefix_cache = false;

  // --threads, --isa and --packed-cache.
  std::vector<Flag> machine_flags();
  // --kv, --page-tokens, --prefill-chunk, --prefill-beside-decodes, --context, --cache-mib, --no-prefix-cache,
  // --tensor-parallel.
  std::vector<Flag> cache_flags();

  // Defaults: the cores that this process may use, the fastest instruction set of this machine.
  // Failure: kInvalidArgument (an instruction set that is unknown or not here).
  Result<engine::EngineOptions> Resolve() const;
  // How the model of a command with machine_flags is loaded.
  LoadOptions Loading(const std::string& path, const engine::EngineOptions& options) const;
};

}  // namespace samebit::cli
