// A tokenizer from a stranger: the first byte picks the source, the rest is a tokenizer.json, or GGUF pieces and merges
// cut at line ends.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/tokenizer_spec.h"
#include "text/tokenizer.h"

namespace {

void FillFromLines(std::string_view lines, samebit::TokenizerSpec* spec) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    if (line.size() > 1 && line[0] == 'M') {
      spec->merges.emplace_back(line.substr(1));
    } else if (!line.empty()) {
      spec->kinds.push_back(static_cast<samebit::TokenKind>(line[0] & 7));
      spec->scores.push_back(static_cast<float>(line[0]));
      spec->pieces.emplace_back(line.substr(1));
    }
  }
  spec->vocabulary = static_cast<uint32_t>(spec->pieces.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  samebit::TokenizerSpec spec;
  if (data[0] % 3 == 0) {
    spec.tokenizer_json = rest;
    spec.vocabulary = 300;
  } else {
    spec.gguf_model = data[0] % 3 == 1 ? "gpt2" : "llama";
    spec.gguf_pre = (data[0] & 64) != 0 ? "qwen2" : "smollm";
    FillFromLines(rest, &spec);
  }
  auto tokenizer = samebit::text::MakeTokenizer(spec);
  if (!tokenizer.ok()) {
    CHECK(tokenizer.error().code != samebit::ErrorCode::kInternal);
    return 0;
  }
  for (std::string_view text : {"Hello, 123 <|end|>", "\xF0\x9F\x99\x82 \xC3\xA9", "   "}) {
    auto ids = (*tokenizer)->Encode(text, samebit::text::Specials::kAsText);
    if (!ids.ok()) continue;
    for (samebit::TokenId id : *ids) CHECK(static_cast<uint32_t>(id) < spec.vocabulary);
  }
  return 0;
}
