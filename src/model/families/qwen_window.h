// The RoPE and window keys of config.json that Qwen2 and Qwen3 share.
#pragma once

#include "base/result.h"
#include "model/fields.h"
#include "model/model.h"

namespace samebit::model {

// use_sliding_window with layer_types, or with max_window_layers (layers from that number on are local).
Status ReadQwenRopeAndWindow(const Fields& fields, ModelConfig* config);

}  // namespace samebit::model
