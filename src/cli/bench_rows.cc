#include "cli/bench_rows.h"

#include <algorithm>

#include "cli/number_text.h"
#include "model/describe.h"

namespace samebit::cli {
namespace {

// Long enough that a clock tick does not matter, short enough that the depth stays what the row says.
constexpr uint32_t kDecodeTokens = 64;
constexpr uint32_t kDecodeTokensQuick = 32;
constexpr uint32_t kDepthMax = 8192;
constexpr uint32_t kSequencesMax = 256;

}  // namespace

const char* BenchRow::kind_name() const {
  switch (kind) {
    case BenchKind::kPrefill:
      return "prefill";
    case BenchKind::kDecode:
      return "decode";
    case BenchKind::kMixed:
      return "mixed";
  }
  return "decode";
}

std::string BenchRow::name() const {
  const std::string start = std::string(kind_name()) + ":";
  if (kind == BenchKind::kPrefill) return start + std::to_string(tokens);
  return start + std::to_string(batch) + ":" + std::to_string(kind == BenchKind::kDecode ? depth : tokens);
}

Result<BenchRow> ParseRow(std::string_view name) {
  const Error refusal = {
      ErrorCode::kInvalidArgument,
      "expected prefill:TOKENS, decode:BATCH:DEPTH[:TOKENS] or mixed:BATCH:TOKENS, found " + model::Printable(name)};
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= name.size();) {
    const size_t colon = std::min(name.find(':', at), name.size());
    parts.push_back(name.substr(at, colon - at));
    at = colon + 1;
  }
  std::vector<uint32_t> numbers;
  for (size_t i = 1; i < parts.size(); ++i) {
    const auto number = ParseWhole(parts[i], 0, 1 << 20);
    if (!number.ok()) return refusal;
    numbers.push_back(static_cast<uint32_t>(number.value()));
  }
  if (parts[0] == "prefill" && numbers.size() == 1 && numbers[0] > 0)
    return BenchRow{BenchKind::kPrefill, numbers[0], 1, 0};
  if (numbers.size() < 2 || numbers[0] == 0 || numbers[0] > kSequencesMax) return refusal;
  if (parts[0] == "mixed" && numbers.size() == 2 && numbers[1] > 0)
    return BenchRow{BenchKind::kMixed, numbers[1], numbers[0], 0};
  if (parts[0] == "decode" && numbers.size() <= 3) {
    const uint32_t tokens = numbers.size() == 3 ? numbers[2] : kDecodeTokens;
    if (tokens > 0) return BenchRow{BenchKind::kDecode, tokens, numbers[0], numbers[1]};
  }
  return refusal;
}

std::vector<BenchRow> QuickRows() {
  return {{BenchKind::kPrefill, 128},
          {BenchKind::kPrefill, 512},
          {BenchKind::kDecode, kDecodeTokensQuick, 1, 0},
          {BenchKind::kDecode, kDecodeTokensQuick, 8, 0},
          {BenchKind::kDecode, kDecodeTokensQuick, 32, 0},
          {BenchKind::kDecode, kDecodeTokensQuick, 1, 2048},
          {BenchKind::kMixed, 512, 8}};
}

std::vector<BenchRow> FullRows(uint32_t context) {
  std::vector<BenchRow> rows;
  for (const uint32_t tokens : {128u, 512u, 2048u}) rows.push_back({BenchKind::kPrefill, tokens});
  for (const uint32_t batch : {1u, 2u, 4u, 8u, 16u, 32u}) rows.push_back({BenchKind::kDecode, kDecodeTokens, batch, 0});
  for (const uint32_t batch : {1u, 8u, 32u}) rows.push_back({BenchKind::kDecode, kDecodeTokens, batch, 2048});
  // Room for the timed tokens of many repeats.
  const uint32_t near_limit = std::min(context, kDepthMax) * 7 / 8;
  if (near_limit > 2048) rows.push_back({BenchKind::kDecode, kDecodeTokens, 1, near_limit});
  rows.push_back({BenchKind::kMixed, 512, 8});
  return rows;
}

}  // namespace samebit::cli
