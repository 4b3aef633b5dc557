#include "verify/prompt_set.h"

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

std::string StockQuestion(uint32_t record_count) {
  std::string text = "Read these stock records.\n";
  for (uint32_t number = 1; number <= record_count; ++number) text += StockRecord(number);
  return text + "How many crates does record " + std::to_string((record_count + 1) / 2) + " name, and of what?";
}

Prompt LongPrompt(const std::string& id, uint32_t record_count) {
  return {id, "long_context", {{"user", StockQuestion(record_count)}}, 0};
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

Result<PreparedPrompt> MakeLongPrompt(const PromptRenderer& renderer, const std::string& id, uint32_t tokens_max) {
  // Bisection over the number of records: rendered length grows with it, but how fast is the tokenizer's business.
  uint32_t fits = 0;
  uint32_t too_many = 1;
  std::vector<TokenId> best;
  const auto try_count = [&](uint32_t count) -> Result<bool> {
    ASSIGN_OR_RETURN(std::vector<TokenId> ids, renderer.Render(LongPrompt(id, count)));
    if (ids.size() > tokens_max) return false;
    fits = count;
    best = std::move(ids);
    return true;
  };
  while (true) {
    ASSIGN_OR_RETURN(const bool fitting, try_count(too_many));
    if (!fitting) break;
    too_many *= 2;
  }
  while (fits + 1 < too_many) {
    const uint32_t middle = fits + (too_many - fits) / 2;
    ASSIGN_OR_RETURN(const bool fitting, try_count(middle));
    if (!fitting) too_many = middle;
  }
  if (fits == 0)
    return Error{ErrorCode::kContextOverflow, "prompt \"" + id + "\": expected room for one record, found a bound of " +
                                                  std::to_string(tokens_max) + " tokens"};
  PreparedPrompt prepared;
  prepared.id = id;
  prepared.category = "long_context";
  prepared.ids = std::move(best);
  return prepared;
}

}  // namespace samebit::verify
