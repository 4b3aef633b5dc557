// Any bytes as a config.json, for every family: an error or a configuration within the limits, nothing else.
#include <cstdlib>

#include "base/limits.h"
#include "fuzz/seeded_mutator.h"
#include "model/family_shape.h"
#include "model/json_fields.h"

namespace {

constexpr const char* kSeed =
    R"({"model_type":"gemma3_text","hidden_size":32,"intermediate_size":32,"num_hidden_layers":2,)"
    R"("num_attention_heads":2,"num_key_value_heads":1,"head_dim":16,"vocab_size":8,"max_position_embeddings":64,)"
    R"("rms_norm_eps":1e-05,"rope_theta":10000.0,"tie_word_embeddings":true,"sliding_window":16,)"
    R"("use_sliding_window":true,"max_window_layers":1,"layer_types":["full_attention","sliding_attention"],)"
    R"("rope_parameters":{"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
    R"("original_max_position_embeddings":32,"full_attention":{"rope_theta":1e6},)"
    R"("sliding_attention":{"rope_theta":1e4}}})";

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max, unsigned) {
  return samebit::test::MutateFromSeed(kSeed, data, size, size_max);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace samebit;
  const auto fields = model::JsonFields::Parse({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!fields.ok()) return 0;
  for (const model::Family* family : model::Families()) {
    model::ModelConfig config;
    if (!family->configure_hugging_face(**fields, &config).ok()) continue;
    if (!model::CheckConfig(config, "fuzz").ok()) continue;
    if (config.layers > limits::kLayersMax || config.layer_is_local.size() != config.layers) std::abort();
    if (config.head_size > limits::kHeadSizeMax || config.heads % config.kv_heads != 0) std::abort();
  }
  return 0;
}
