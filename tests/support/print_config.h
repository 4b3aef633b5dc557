// How gtest prints a configuration: every field, so that a failed comparison shows the one that differs.
#pragma once

#include <ostream>

#include "model/model.h"

namespace samebit::model {

inline void PrintTo(const ModelConfig& config, std::ostream* out) {
  *out << "\n  family " << config.family << "\n  kind " << static_cast<int>(config.kind) << "\n  layers "
       << config.layers << "\n  width " << config.width
       << "\n  ffn_width " << config.ffn_width << "\n  heads " << config.heads << "\n  kv_heads " << config.kv_heads
       << "\n  head_size " << config.head_size << "\n  vocabulary " << config.vocabulary << "\n  context "
       << config.context << "\n  norm_epsilon " << config.norm_epsilon << "\n  activation "
       << static_cast<int>(config.activation) << "\n  qkv_bias " << config.qkv_bias << "\n  qk_norm " << config.qk_norm
       << "\n  post_norms " << config.post_norms << "\n  tied_embedding " << config.tied_embedding << "\n  rope_base "
       << config.rope_base << "\n  rope_base_local " << config.rope_base_local << "\n  rope_scaling "
       << static_cast<int>(config.rope_scaling.kind) << " " << config.rope_scaling.factor << "\n  frequency factors "
       << config.rope_frequency_factors.size() << "\n  sliding_window " << config.sliding_window << "\n  local layers ";
  for (const bool local : config.layer_is_local) *out << local;
  *out << "\n  embedding_scale " << config.embedding_scale << "\n  attention_scale " << config.attention_scale
       << "\n  positions " << config.positions << "\n  token_types " << config.token_types << "\n  pooling "
       << (config.pooling ? PoolingName(*config.pooling) : "unsaid") << "\n  normalized "
       << (config.normalized_vectors ? *config.normalized_vectors ? "yes" : "no" : "unsaid") << "\n";
}

}  // namespace samebit::model
