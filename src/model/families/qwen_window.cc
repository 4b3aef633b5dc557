#include "model/families/qwen_window.h"

#include "base/limits.h"
#include "model/family_shape.h"

namespace samebit::model {

Status ReadQwenRopeAndWindow(const Fields& fields, ModelConfig* config) {
  RETURN_IF_ERROR(ReadRopeOfAllLayers(fields, 10000, config));
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
  return RefuseScaledWindow(fields, *config);
}

}  // namespace samebit::model
