#include "engine/phases.h"

namespace samebit::engine {

const char* PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kSchedule:
      return "schedule";
    case Phase::kEmbed:
      return "embed";
    case Phase::kNorm:
      return "norm";
    case Phase::kQueryKeyValue:
      return "qkv";
    case Phase::kRope:
      return "rope_and_store";
    case Phase::kAttention:
      return "attention";
    case Phase::kAttentionOutput:
      return "attention_output";
    case Phase::kGateUp:
      return "gate_up";
    case Phase::kDown:
      return "down";
    case Phase::kHead:
      return "head";
    case Phase::kSample:
      return "sample";
    case Phase::kOutside:
      return "outside";
  }
  return "outside";
}

}  // namespace samebit::engine
