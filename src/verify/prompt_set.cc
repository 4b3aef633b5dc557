#include "verify/prompt_set.h"

#include <functional>
#include <string>

namespace samebit::verify {
namespace {

struct WrittenPrompt {
  const char* id;
  const char* category;
  const char* text;
};

constexpr WrittenPrompt kWritten[] = {
#include "verify/built_in_prompts.inc"
};

// One record of about 20 words. The values come from the record's number alone.
std::string StockRecord(uint32_t number) {
  static constexpr const char* kPlaces[] = {"north", "harbour", "hillside", "river", "station", "old town"};
  static constexpr const char* kGoods[] = {"copper wire", "oak boards", "wheat flour", "window glass", "lamp oil",
                                           "wool blankets", "roof tiles"};
  // A full-period generator modulo 2^32; only its upper bits are used.
  const uint32_t mixed = (number * 2654435761u + 12345u) ^ (number << 7);
  const uint32_t crates = 10 + (mixed >> 20) % 890;
  const uint32_t day = 1 + (mixed >> 12) % 28;
  return "Record " + std::to_string(number) + ": the " + kPlaces[(mixed >> 9) % 6] + " store holds " +
         std::to_string(crates) + " crates of " + kGoods[(mixed >> 24) % 7] + ", counted on day " +
         std::to_string(day) + ".\n";
}

struct LongText {
  uint32_t record_count = 0;
  uint32_t filler_words = 0;  // to come nearer to a wanted length than whole records do
};

Prompt LongPrompt(const std::string& id, const LongText& shape) {
  std::string text = "Read these stock records.\n";
  for (uint32_t number = 1; number <= shape.record_count; ++number) text += StockRecord(number);
  for (uint32_t word = 0; word < shape.filler_words; ++word) text += word == 0 ? "So" : " so";
  if (shape.filler_words > 0) text += ".\n";
  text += "How many crates does record " + std::to_string((shape.record_count + 1) / 2) + " name, and of what?";
  return {id, "long_context", {{"user", text}}, 0};
}

// The largest count >= 1 for which fits(count) holds, or 0, by doubling and bisection: the length of the rendered text
// grows with the count, but how fast is the tokenizer's business.
Result<uint32_t> LargestFitting(const std::function<Result<bool>(uint32_t)>& fits) {
  uint32_t good = 0;
  uint32_t bad = 1;
  while (true) {
    ASSIGN_OR_RETURN(const bool fitting, fits(bad));
    if (!fitting) break;
    good = bad;
    bad *= 2;
  }
  while (good + 1 < bad) {
    const uint32_t middle = good + (bad - good) / 2;
    ASSIGN_OR_RETURN(const bool fitting, fits(middle));
    (fitting ? good : bad) = middle;
  }
  return good;
}

}  // namespace

const std::vector<Prompt>& BuiltInPrompts() {
  static const std::vector<Prompt> prompts = [] {
    std::vector<Prompt> all;
    for (const WrittenPrompt& written : kWritten)
      all.push_back({written.id, written.category, {{"user", written.text}}, 0});
    return all;
  }();
  return prompts;
}

Prompt LongPromptOf(const std::string& id, uint32_t record_count) { return LongPrompt(id, {record_count, 0}); }

Result<PreparedPrompt> MakeLongPrompt(const PromptRenderer& renderer, const std::string& id, uint32_t tokens_max) {
  std::vector<TokenId> best;
  const auto try_shape = [&](const LongText& wanted) -> Result<bool> {
    ASSIGN_OR_RETURN(std::vector<TokenId> ids, renderer.Render(LongPrompt(id, wanted)));
    if (ids.size() > tokens_max) return false;
    best = std::move(ids);
    return true;
  };
  ASSIGN_OR_RETURN(const uint32_t records, LargestFitting([&](uint32_t count) { return try_shape({count, 0}); }));
  if (records == 0)
    return Error{ErrorCode::kContextOverflow, "prompt \"" + id + "\": expected room for one record, found a bound of " +
                                                  std::to_string(tokens_max) + " tokens"};
  // `best` is left at the last shape that fitted, which is the largest one.
  ASSIGN_OR_RETURN([[maybe_unused]] const uint32_t words,
                   LargestFitting([&](uint32_t count) { return try_shape({records, count}); }));
  PreparedPrompt prepared;
  prepared.id = id;
  prepared.category = "long_context";
  prepared.ids = std::move(best);
  return prepared;
}

}  // namespace samebit::verify
