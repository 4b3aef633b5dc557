// Correctness against an independent implementation (transformers in float32), within stated tolerances. Not about
// determinism: law_test.cc compares bits.
#include <gtest/gtest.h>

#include <set>

#include "arith/number_formats.h"
#include "correctness/oracle.h"
#include "support/decoder_run.h"

namespace samebit::test {
namespace {

using kernels::CacheType;

class Tiny : public testing::TestWithParam<TinyModel> {
 protected:
  static bool IsQuantized(const TinyExpected& expected) { return expected.weight_type[0] == 'Q'; }
};

TEST_P(Tiny, logits_are_the_oracles) {
  const TinyExpected expected = ReadTinyExpected(GetParam().name);
  const auto weights = PackTiny(GetParam());
  for (CacheType cache_type : {CacheType::kF32, CacheType::kF16}) {
    const OracleDistance distance = DistanceFromOracle(*weights, expected, cache_type);
    std::printf("%s, %s cache: max %.2g, rms %.2g, mean KL %.2g\n", TestName(GetParam()).c_str(),
                cache_type == CacheType::kF32 ? "f32" : "f16", distance.max, distance.rms, distance.kl_mean);
    if (IsQuantized(expected)) {
      EXPECT_LT(distance.rms, kQuantizedRmsMax);
      EXPECT_LT(distance.kl_mean, kQuantizedKlMax);
    } else {
      EXPECT_LT(distance.max, cache_type == CacheType::kF32 ? kLogitErrorMax : kLogitErrorMaxF16Cache);
    }
  }
}

TEST_P(Tiny, greedy_tokens_are_the_oracles) {
  const TinyExpected expected = ReadTinyExpected(GetParam().name);
  const auto weights = PackTiny(GetParam());
  size_t comparable = expected.greedy_ids.size();
  if (IsQuantized(expected)) {
    comparable = 0;
    while (comparable < expected.greedy_ids.size() && expected.greedy_margins[comparable] >= kSafeMargin) ++comparable;
  }
  for (CacheType cache_type : {CacheType::kF32, CacheType::kF16}) {
    std::vector<TokenId> ids =
        DecoderGreedy(*weights, expected.prompt, static_cast<uint32_t>(comparable), OraclePassOptions(cache_type));
    EXPECT_EQ(ids, std::vector<TokenId>(expected.greedy_ids.begin(), expected.greedy_ids.begin() + comparable));
  }
}

INSTANTIATE_TEST_SUITE_P(all, Tiny, testing::ValuesIn(TinyModels()),
                         [](const testing::TestParamInfo<TinyModel>& info) { return TestName(info.param); });

TEST(TinyList, holds_every_model_of_the_manifest) {
  std::set<std::string> names;
  for (const TinyModel& model : TinyModels()) names.insert(model.name);
  const std::vector<std::string> manifest = ReadTinyManifest();
  EXPECT_EQ(names, std::set<std::string>(manifest.begin(), manifest.end()));
}

}  // namespace
}  // namespace samebit::test
