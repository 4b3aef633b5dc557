// Start-up self-test: runs fixed vectors through the kernels that this process is about to use, on this machine, and
// compares a digest with the golden one that arith gives. A difference refuses tier 2.
#pragma once

#include <string>

#include "base/digest.h"
#include "base/result.h"
#include "kernels/kernels.h"

namespace samebit::kernels {

// Digest over the outputs of the functions that decoders use, on the fixed vectors (about 20 ms).
Sha256Digest SelfTestDigest(const KernelTable& table);
// The digest that the law gives; frozen for samebit-arith/1.
const char* GoldenSelfTestDigest();
// The same over those and the functions that only sentence encoders use.
Sha256Digest EncoderSelfTestDigest(const KernelTable& table);
const char* GoldenEncoderSelfTestDigest();
// Both. kSelfTestFailed names the first operation that differs from arith.
Status SelfTest(const KernelTable& table);

}  // namespace samebit::kernels
