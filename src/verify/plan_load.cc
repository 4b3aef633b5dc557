// The axes that clients move: how many come at once, with what, next to whom, in what order.
#include <algorithm>

#include "verify/plan_maker.h"

namespace samebit::verify {
namespace {

// The bounds between which a prompt is called short, medium, near the context limit. Chat turns with a template's
// system text have 30 to 80 tokens.
constexpr uint32_t kShortTokensMax = 80;
constexpr uint32_t kMediumTokensMin = 128;

std::string Number(uint32_t number) { return std::to_string(number); }

// A fixed permutation: Fisher-Yates over a linear congruential generator.
template <class T>
void Shuffle(std::vector<T>& items) {
  uint64_t state = 0x9e3779b97f4a7c15u;
  for (size_t i = items.size(); i > 1; --i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::swap(items[i - 1], items[(state >> 33) % i]);
  }
}

}  // namespace

void PlanMaker::AddConcurrency() {
  const uint32_t tokens = inputs_.sizes.output_tokens;
  Cell& repeat = NewCell(Axis::kConcurrency, "1", "the base once more: one request alone, token by token");
  repeat.requests = RequestsFor(
      chooser_.Choose({.count = inputs_.sizes.repeat_prompts, .answer_tokens = tokens}, Order::kAsGiven), tokens);
  Require(repeat, "no prompt fits the model's context");
  const uint32_t peak = inputs_.base.sequences_max;
  for (const auto& [value, in_flight] : {std::pair<std::string, uint32_t>{"8", 8}, {"32", 32}, {"peak", peak}}) {
    Cell& cell = NewCell(Axis::kConcurrency, value, "every prompt, " + Number(in_flight) + " requests in flight");
    cell.in_flight = in_flight;
    cell.requests = RequestsFor(chooser_.Choose({.answer_tokens = tokens}, Order::kLongestFirst), tokens);
    Require(cell, "no prompt fits the model's context");
  }
}

void PlanMaker::AddPromptLength() {
  const uint32_t tokens = inputs_.sizes.output_tokens;
  Cell& small = NewCell(Axis::kPromptLength, "short", "short prompts, prefilled whole, 4 in flight");
  small.prompt_tokens.max = kShortTokensMax;
  small.requests = RequestsFor(
      chooser_.Choose(
          {.count = inputs_.sizes.batch_prompts, .answer_tokens = tokens, .prompt_tokens_max = kShortTokensMax},
          Order::kShortestFirst),
      tokens);
  Require(small, "no prompt of at most " + Number(kShortTokensMax) + " tokens");
  PrefillWhole(small);
  small.in_flight = 4;

  Cell& medium = NewCell(Axis::kPromptLength, "medium", "longer prompts, prefilled whole, 4 in flight");
  medium.prompt_tokens = {kMediumTokensMin, kWholePrefillRows};
  medium.requests = RequestsFor(chooser_.Choose({.count = inputs_.sizes.batch_prompts,
                                                 .answer_tokens = tokens,
                                                 .prompt_tokens_min = kMediumTokensMin,
                                                 .prompt_tokens_max = kWholePrefillRows},
                                                Order::kLongestFirst),
                                tokens);
  Require(medium, "no prompt of " + Number(kMediumTokensMin) + " to " + Number(kWholePrefillRows) + " tokens");
  PrefillWhole(medium);
  medium.in_flight = 4;

  Cell& limit = NewCell(Axis::kPromptLength, "near limit",
                        "a prompt that leaves room for its answer only, in chunks of 512, next to another request");
  limit.prompt_tokens.min = inputs_.context_max - inputs_.context_max / 8;
  limit.options.prefill_chunk = 512;
  limit.in_flight = 2;
  limit.company_min = 1;
  if (inputs_.limit_prompt)
    limit.requests.push_back({.prompt = *inputs_.limit_prompt, .tokens_max = inputs_.sizes.limit_output_tokens});
  Require(limit, "no prompt near the context limit of " + Number(inputs_.context_max) + " tokens could be made");
}

void PlanMaker::AddOutputLength() {
  const PlanSizes& sizes = inputs_.sizes;
  for (const auto& [tokens, count] :
       {std::pair{16u, sizes.batch_prompts}, {128u, sizes.output_128_prompts}, {1024u, sizes.output_1024_prompts}}) {
    Cell& cell = NewCell(Axis::kOutputLength, Number(tokens),
                         "answers of " + Number(tokens) + " tokens while other requests come and go");
    cell.in_flight = 2;
    cell.company_min = 1;
    for (uint32_t prompt : chooser_.Choose({.count = count, .answer_tokens = tokens}, Order::kAsGiven))
      cell.requests.push_back({.prompt = prompt, .tokens_max = tokens});
    Require(cell, "no prompt leaves room for " + Number(tokens) + " answer tokens in a context of " +
                      Number(inputs_.context_max));
  }
}

void PlanMaker::AddBatchShape() {
  const uint32_t tokens = inputs_.sizes.output_tokens;
  Cell& uniform = NewCell(Axis::kBatchShape, "uniform", "one identical request from 8 clients at once");
  uniform.in_flight = 8;
  for (uint32_t prompt : chooser_.Choose({.count = 1, .answer_tokens = tokens}, Order::kAsGiven))
    uniform.requests.assign(8, {.prompt = prompt, .tokens_max = tokens});
  Require(uniform, "no prompt fits the model's context");

  Cell& mixed = NewCell(Axis::kBatchShape, "mixed",
                        "long and short prompts and answers together, prefill in chunks of 64 beside decoding");
  mixed.in_flight = 8;
  mixed.options.prefill_chunk = 64;
  const uint32_t half = (inputs_.sizes.batch_prompts + 1) / 2;
  const auto longest = chooser_.Choose({.count = half, .answer_tokens = tokens}, Order::kLongestFirst);
  const auto shortest = chooser_.Choose({.count = half, .answer_tokens = tokens}, Order::kShortestFirst);
  for (size_t i = 0; i < longest.size(); ++i) {
    mixed.requests.push_back({.prompt = shortest[i], .tokens_max = tokens});
    mixed.requests.push_back({.prompt = longest[i], .tokens_max = std::max(1u, tokens / 2)});
  }
  Require(mixed, "no prompt fits the model's context");
}

void PlanMaker::AddNeighbours() {
  for (const auto& [value, company, words] :
       {std::tuple{"greedy", Company::kGreedy, "greedy neighbours"},
        std::tuple{"hot", Company::kHot, "neighbours at temperature 2 with penalties"}}) {
    Cell& cell = NewCell(Axis::kNeighbours, value, std::string("one request among 3 ") + words);
    cell.in_flight = 4;
    cell.company_min = 3;
    cell.company = company;
    cell.requests = AloneRequests();
    Require(cell, "no prompt fits the model's context");
  }
}

void PlanMaker::AddOrder() {
  for (const char* value : {"as given", "reversed", "shuffled"}) {
    Cell& cell = NewCell(Axis::kOrder, value, std::string("4 requests in flight, submitted ") + value);
    cell.in_flight = 4;
    cell.requests = BatchRequests();
    Require(cell, "no prompt fits the model's context");
    cell.reordered = cell.value != "as given";
    if (cell.value == "reversed") std::reverse(cell.requests.begin(), cell.requests.end());
    if (cell.value == "shuffled") Shuffle(cell.requests);
  }
}

void PlanMaker::AddSamples() {
  const uint32_t tokens = inputs_.sizes.output_tokens;
  for (uint32_t n : {1u, 4u, 8u}) {
    Cell& cell = NewCell(Axis::kSamples, Number(n), "one request at T = 0.8 with n = " + Number(n));
    for (uint32_t prompt : chooser_.Choose({.count = 1, .answer_tokens = tokens}, Order::kAsGiven))
      cell.requests.push_back(
          {.prompt = prompt, .sampling = SamplingKind::kSeeded, .tokens_max = tokens, .samples = n});
    Require(cell, "no prompt fits the model's context");
  }
}

}  // namespace samebit::verify
