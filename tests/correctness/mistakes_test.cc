// The tolerances would notice: one wrong norm, scale, bias, window or RoPE base breaks each of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "correctness/oracle.h"
#include "support/edited_model.h"

namespace samebit::test {
namespace {

using kernels::CacheType;
using model::Role;

struct Mistake {
  const char* name;
  std::function<void(EditedModel&)> make;
};

// A norm that does nothing: weights of 1.
std::function<void(EditedModel&)> NormOfOne(Role role, uint32_t layer) {
  return [=](EditedModel& model) {
    std::vector<float>& weights = model.EditTensor(role, layer);
    std::fill(weights.begin(), weights.end(), model.norms_add_one() ? 0.0f : 1.0f);
  };
}

std::function<void(EditedModel&)> NoBias(Role role) {
  return [=](EditedModel& model) {
    std::vector<float>& bias = model.EditTensor(role, 0);
    std::fill(bias.begin(), bias.end(), 0.0f);
  };
}

const std::vector<Mistake>& EveryFamily() {
  static const std::vector<Mistake> mistakes = {
      {"attention norm", NormOfOne(Role::kAttentionNorm, 0)},
      {"feed-forward norm", NormOfOne(Role::kFfnNorm, 0)},
      {"output norm", NormOfOne(Role::kOutputNorm, 0)},
      {"norm epsilon", [](EditedModel& model) { model.edit_config().norm_epsilon = 1e-5f; }},
      {"attention scale", [](EditedModel& model) { model.edit_config().attention_scale *= 1.41421356f; }},
      {"RoPE base",
       [](EditedModel& model) {
         model.edit_config().rope_base *= 2;
         model.edit_config().rope_base_local *= 2;
       }},
  };
  return mistakes;
}

// Distance of the model with a mistake.
OracleDistance DistanceWith(const TinyModel& model, const Mistake& mistake, CacheType cache_type) {
  EditedModel edited(OpenTiny(model));
  mistake.make(edited);
  return DistanceFromOracle(*Pack(edited), ReadTinyExpected(model.name), cache_type);
}

void ExpectNoticed(const TinyModel& model, const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    EXPECT_GT(DistanceWith(model, mistake, CacheType::kF32).max, 3 * kLogitErrorMax)
        << TestName(model) << ": " << mistake.name;
    EXPECT_GT(DistanceWith(model, mistake, CacheType::kF16).max, kLogitErrorMaxF16Cache)
        << TestName(model) << ": " << mistake.name;
  }
}

TEST(Mistakes, no_edit_is_within_the_tolerance) {
  for (const TinyModel& model : {TinyModel{"llama-tied", false}, TinyModel{"gemma3", true}}) {
    EXPECT_LT(DistanceWith(model, {"none", [](EditedModel&) {}}, CacheType::kF32).max, kLogitErrorMax);
    // The tensor is taken out, stored as F32 and put back: the editing itself changes nothing.
    EXPECT_LT(
        DistanceWith(model, {"none", [](EditedModel& m) { m.EditTensor(Role::kAttentionNorm, 0); }}, CacheType::kF32)
            .max,
        kLogitErrorMax);
  }
}

TEST(Mistakes, break_the_tolerance_in_every_family) {
  for (const char* name : {"llama-tied", "llama-untied", "qwen2", "qwen3", "gemma3"})
    ExpectNoticed({name, false}, EveryFamily());
  for (const char* name : {"llama-rope3", "mistral-window"}) ExpectNoticed({name, true}, EveryFamily());
}

TEST(Mistakes, a_rope_base_off_by_one_percent_breaks_the_tolerance_of_the_f32_cache) {
  const Mistake mistake{"RoPE base x 1.01", [](EditedModel& model) {
                          model.edit_config().rope_base *= 1.01;
                          model.edit_config().rope_base_local *= 1.01;
                        }};
  for (const char* name : {"llama-tied", "qwen2", "qwen3", "gemma3"})
    EXPECT_GT(DistanceWith({name, false}, mistake, CacheType::kF32).max, 3 * kLogitErrorMax) << name;
}

TEST(Mistakes, of_one_family_only_break_the_tolerance) {
  ExpectNoticed({"llama-rope3", true},
                {{"RoPE scaling off", [](EditedModel& model) { model.edit_config().rope_scaling = {}; }}});
  const Mistake longer{"window one key longer", [](EditedModel& model) { ++model.edit_config().sliding_window; }};
  const Mistake shorter{"window one key shorter", [](EditedModel& model) { --model.edit_config().sliding_window; }};
  ExpectNoticed({"mistral-window", true}, {longer, shorter});
  ExpectNoticed({"qwen2", false}, {{"query bias", NoBias(Role::kQueryBias)},
                                   {"key bias", NoBias(Role::kKeyBias)},
                                   {"value bias", NoBias(Role::kValueBias)}});
  ExpectNoticed({"qwen3", false},
                {{"query norm", NormOfOne(Role::kQueryNorm, 0)}, {"key norm", NormOfOne(Role::kKeyNorm, 0)}});
  ExpectNoticed(
      {"gemma3", false},
      {longer,
       shorter,
       {"query norm", NormOfOne(Role::kQueryNorm, 0)},
       {"key norm", NormOfOne(Role::kKeyNorm, 0)},
       {"attention post-norm", NormOfOne(Role::kAttentionPostNorm, 0)},
       {"feed-forward post-norm", NormOfOne(Role::kFfnPostNorm, 0)},
       {"embedding scale off", [](EditedModel& model) { model.edit_config().embedding_scale = 1; }},
       {"global RoPE base", [](EditedModel& model) { model.edit_config().rope_base *= 2; }},
       {"local RoPE base", [](EditedModel& model) { model.edit_config().rope_base_local *= 2; }},
       {"RoPE bases swapped",
        [](EditedModel& model) { std::swap(model.edit_config().rope_base, model.edit_config().rope_base_local); }},
       {"other global layer", [](EditedModel& model) {
          model.edit_config().layer_is_local[5] = true;
          model.edit_config().layer_is_local[4] = false;
        }}});
  const Mistake rounded{"embedding scale rounded to bf16", [](EditedModel& model) {
                          float& scale = model.edit_config().embedding_scale;
                          scale = arith::FloatOf((arith::BitsOf(scale) + 0x8000u) & 0xffff0000u);
                        }};
  EXPECT_GT(DistanceWith({"gemma3", false}, rounded, CacheType::kF32).max, 3 * kLogitErrorMax);
}

TEST(Mistakes, break_the_tolerance_of_quantized_weights) {
  for (const char* name : {"llama-q4_0", "llama-q4_1", "llama-q5_0", "llama-q5_1", "llama-q8_0", "llama-q4_k",
                           "llama-q5_k", "llama-q6_k"}) {
    for (const Mistake& mistake : EveryFamily()) {
      // An epsilon is not seen through 8-bit activations; the float models see it.
      if (std::string_view(mistake.name) == "norm epsilon") continue;
      EXPECT_GT(DistanceWith({name, false}, mistake, CacheType::kF16).rms, kQuantizedRmsMax)
          << name << ": " << mistake.name;
    }
  }
}

}  // namespace
}  // namespace samebit::test
