// NaN and infinity in weights. Norms and biases are checked by Open(); the matrices cost a pass over the file, so the
// loader asks for it when it reads them anyway.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "model/model.h"

namespace samebit::model {

// Index of the first element (float formats) or the first element of the block (quantized formats: its scale or
// minimum) that is not finite; nothing where all are. Reads every float, or every block's scales, once.
std::optional<uint64_t> FirstNonFinite(const Tensor& tensor);

// All tensors of the model. Failure: kMalformed, naming tensor and element.
Status CheckWeightsFinite(const Model& model);

}  // namespace samebit::model
