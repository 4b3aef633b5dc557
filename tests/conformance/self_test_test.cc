// The start-up self-test: its golden digest is what arith gives, every table of this machine gives it, and a table with
// one wrong function is refused with the name of the operation.
#include <gtest/gtest.h>

#include "kernels/self_test.h"
#include "kernels/self_test_operations.h"

namespace samebit::conformance {
namespace {

TEST(SelfTest, golden_digest_is_the_law) {
  Sha256 digest;
  for (const kernels::SelfTestOperation& operation : kernels::SelfTestOperations()) {
    kernels::Outcome outcome;
    operation.run_by_law(&outcome);
    digest.Update(operation.name);
    digest.Update(outcome.bytes().data(), outcome.bytes().size());
  }
  EXPECT_EQ(digest.Finish().hex(), kernels::GoldenSelfTestDigest());
}

TEST(SelfTest, golden_digest_of_encoders_is_the_law) {
  Sha256 digest;
  for (const auto operations : {kernels::SelfTestOperations(), kernels::EncoderSelfTestOperations()}) {
    for (const kernels::SelfTestOperation& operation : operations) {
      kernels::Outcome outcome;
      operation.run_by_law(&outcome);
      digest.Update(operation.name);
      digest.Update(outcome.bytes().data(), outcome.bytes().size());
    }
  }
  EXPECT_EQ(digest.Finish().hex(), kernels::GoldenEncoderSelfTestDigest());
}

TEST(SelfTest, every_table_of_this_machine_passes) {
  for (const kernels::Isa isa : kernels::AvailableIsas()) {
    const kernels::KernelTable& table = kernels::Kernels(isa);
    EXPECT_EQ(kernels::SelfTestDigest(table).hex(), kernels::GoldenSelfTestDigest()) << kernels::IsaName(isa);
    EXPECT_EQ(kernels::EncoderSelfTestDigest(table).hex(), kernels::GoldenEncoderSelfTestDigest());
    EXPECT_TRUE(kernels::SelfTest(table).ok()) << kernels::IsaName(isa);
  }
}

void WrongFinish(const float* running_part, uint32_t head_size, float* out) {
  for (uint32_t d = 0; d < head_size; ++d)
    out[d] = running_part[kernels::kPartOut + d] / running_part[1];  // not * (1 / sum)
}

TEST(SelfTest, names_the_operation_that_differs) {
  kernels::KernelTable table = kernels::Kernels(kernels::BestIsa());
  table.finish_attention = WrongFinish;
  const Status status = kernels::SelfTest(table);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kSelfTestFailed);
  EXPECT_NE(status.error().message.find("attention over an f16 cache"), std::string::npos) << status.error().message;
}

void WrongGelu(const float* x, uint32_t n, float* out) {
  kernels::Kernels(kernels::Isa::kScalar).gelu_tanh(x, n, out);
}

TEST(SelfTest, names_the_operation_of_an_encoder_that_differs) {
  kernels::KernelTable table = kernels::Kernels(kernels::BestIsa());
  table.gelu_erf = WrongGelu;
  const Status status = kernels::SelfTest(table);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("gelu_erf"), std::string::npos) << status.error().message;
}

}  // namespace
}  // namespace samebit::conformance
