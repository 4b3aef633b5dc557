// The safetensors container: a JSON header and the tensors' bytes. Not in numeric-only builds.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace samebit::model {

// bytes: the whole file; must outlive the result. path: for messages. F32, F16 and BF16; an I64 table called
// position_ids that counts from 0 says nothing and is left out.
// The tensors must fill the data section without gap or overlap, as the format demands: a file that lies about one
// offset is refused as a whole. Order of the result: by offset.
// Failures: kMalformed, kUnsupported (another element type, or a tensor not on its type's boundary), kTooLarge.
Result<std::vector<Tensor>> ReadSafetensors(std::span<const std::byte> bytes, const std::string& path);

}  // namespace samebit::model
