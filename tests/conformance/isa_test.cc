// Names of instruction sets and what this machine offers.
#include <gtest/gtest.h>

#include "kernels/isa.h"

namespace samebit::conformance {
namespace {

using kernels::Isa;

TEST(Isa, names_parse_back) {
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Vnni, Isa::kNeon})
    EXPECT_EQ(kernels::ParseIsa(kernels::IsaName(isa)).value(), isa);
}

TEST(Isa, refuses_an_unknown_name_and_lists_the_known_ones) {
  const Result<Isa> parsed = kernels::ParseIsa("sse9");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
  for (const char* name : {"scalar", "avx2", "avx512", "avx512vnni", "neon", "sse9"})
    EXPECT_NE(parsed.error().message.find(name), std::string::npos);
}

TEST(Isa, scalar_comes_first_and_the_order_ascends) {
  const std::vector<Isa> isas = kernels::AvailableIsas();
  ASSERT_FALSE(isas.empty());
  EXPECT_EQ(isas.front(), Isa::kScalar);
  for (size_t i = 1; i < isas.size(); ++i) EXPECT_LT(isas[i - 1], isas[i]);
  EXPECT_EQ(kernels::BestIsa(), isas.back());
}

}  // namespace
}  // namespace samebit::conformance
