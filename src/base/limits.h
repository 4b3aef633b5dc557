// Every bound on input from strangers, with its reason. All of them stand here.
#pragma once

#include <cstdint>

namespace samebit::limits {

// GGUF: the largest published vocabularies hold about 260,000 pieces and 520,000 merges.
inline constexpr uint64_t kGgufMetadataCountMax = 1 << 16;
inline constexpr uint64_t kGgufArrayCountMax = 1 << 22;
inline constexpr uint64_t kGgufStringBytesMax = 1 << 24;  // chat templates reach 20 kB; 16 MiB leaves room
inline constexpr uint64_t kGgufArrayDepthMax = 4;
inline constexpr uint64_t kTensorCountMax = 1 << 16;
inline constexpr uint32_t kTensorRankMax = 4;
inline constexpr uint64_t kTensorElementsMax = 1ull << 40;
inline constexpr uint64_t kSafetensorsHeaderBytesMax = 100ull << 20;  // the format's own limit
inline constexpr uint64_t kJsonFileBytesMax = 256ull << 20;           // a tokenizer.json of 34 MB is the largest met
inline constexpr uint32_t kJsonDepthMax = 64;

// Model shapes. Above these a size computation could leave 64 bits or a stack array its place.
inline constexpr uint32_t kLayersMax = 1024;
inline constexpr uint32_t kWidthMax = 1 << 18;
inline constexpr uint32_t kHeadSizeMax = 512;
inline constexpr uint32_t kHeadsMax = 1024;
inline constexpr uint32_t kVocabularyMax = 1 << 21;
inline constexpr uint32_t kContextMax = 1 << 20;  // RoPE's argument reduction is exact up to 2^20 quarter turns

// Text.
inline constexpr uint64_t kPromptBytesMax = 16ull << 20;
inline constexpr uint64_t kTemplateBytesMax = 1ull << 20;
inline constexpr uint64_t kTemplateOutputBytesMax = 32ull << 20;
inline constexpr uint64_t kTemplateFuel = 10'000'000;  // instructions; a real template needs a few thousand

// Requests.
inline constexpr uint32_t kStopStringsMax = 64;
inline constexpr uint32_t kStopStringBytesMax = 4096;
inline constexpr uint32_t kLogitBiasEntriesMax = 1 << 16;
inline constexpr uint32_t kTopLogprobsMax = 64;
inline constexpr uint32_t kSamplesMax = 256;    // n
inline constexpr uint32_t kBeamWidthMax = 64;

}  // namespace samebit::limits
