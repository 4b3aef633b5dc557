#include "model/families/qwen_window.h"

#include "base/limits.h"
#include "model/family_shape.h"

namespace samebit::model {

Status ReadQwenRopeAndWindow(const Fields& fields, ModelConfig* config) {
  ASSIGN_OR_RETURN(const RopeSettings rope, ReadRope(fields, 10000));
  config->rope_base = rope.base;
  config->rope_base_local = rope.base;
  config->rope_scaling = rope.scaling;
  // The published files state a window and switch it off.
  ASSIGN_OR_RETURN(const bool windowed, fields.BooleanOr("use_sliding_window", false));
  if (!windowed || !fields.Has("sliding_window")) return {};
  ASSIGN_OR_RETURN(config->sliding_window, fields.Dimension("sliding_window", limits::kContextMax));
  if (fields.Has("layer_types")) {
    RETURN_IF_ERROR(ReadLayerTypes(fields, config));
  } else {
    ASSIGN_OR_RETURN(const uint64_t first_local, fields.UnsignedOr("max_window_layers", 28));  // Qwen2Config's default
    for (uint64_t layer = first_local; layer < config->layers; ++layer) config->layer_is_local[layer] = true;
  }
  if (rope.scaling.kind != RopeScaling::Kind::kNone) {
    return fields.Complain(ErrorCode::kUnsupported, "rope_scaling", "no rope scaling beside a sliding window", "both");
  }
  return {};
}

}  // namespace samebit::model
