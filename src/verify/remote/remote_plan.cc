#include "verify/remote/remote_plan.h"

#include <algorithm>

#include "verify/prompt_chooser.h"
#include "verify/prompt_set.h"

namespace samebit::verify {
namespace {

using Order = PromptChooser::Order;

// English has about four bytes to a token; a stock record of MakeLongPrompt's kind about 25 tokens.
constexpr uint32_t kBytesPerToken = 4;
constexpr uint32_t kTokensPerRecord = 25;
constexpr uint32_t kShortTokensMax = 80;
// Longer prompts would need a context that a server may not have, and nobody tells.
constexpr uint32_t kLongTokensMax = 1024;

std::string Number(uint32_t number) { return std::to_string(number); }

class RemotePlan {
 public:
  explicit RemotePlan(const RemotePlanInputs& inputs)
      : inputs_(inputs), sizes_(inputs.sizes), chooser_(*inputs.prompts, UINT32_MAX, std::nullopt) {
    if (inputs.seeds)
      seeded_ = chooser_.Choose({.count = sizes_.seeded_prompts, .answer_tokens = sizes_.output_tokens}, Order::kAsGiven);
  }

  std::vector<Cell> Take() { return std::move(cells_); }

  void AddConcurrency() {
    Cell& repeat = NewCell(Axis::kConcurrency, "1", "the base once more: one request alone");
    repeat.requests = Requests(Chosen(sizes_.repeat_prompts, Order::kAsGiven));
    for (const uint32_t in_flight : {8u, 32u}) {
      if (in_flight > inputs_.in_flight_max) continue;
      Cell& cell = NewCell(Axis::kConcurrency, Number(in_flight), "every prompt, " + Number(in_flight) + " requests in flight");
      cell.in_flight = in_flight;
      cell.requests = Requests(Chosen(UINT32_MAX, Order::kLongestFirst));
    }
  }

  void AddPromptLength() {
    Cell& small = NewCell(Axis::kPromptLength, "short", "short prompts, 4 requests in flight");
    small.requests = Requests(chooser_.Choose(
        {.count = sizes_.batch_prompts, .answer_tokens = sizes_.output_tokens, .prompt_tokens_max = kShortTokensMax},
        Order::kShortestFirst));
    Cell& large = NewCell(Axis::kPromptLength, "long", "long prompts, 4 requests in flight");
    large.prompt_tokens.min = kRemoteLongTokensMin;
    large.requests = Requests(chooser_.Choose({.count = sizes_.batch_prompts,
                                               .answer_tokens = sizes_.output_tokens,
                                               .prompt_tokens_min = kRemoteLongTokensMin},
                                              Order::kLongestFirst));
    small.in_flight = large.in_flight = 4;
    if (large.requests.empty()) large.impossible = "no prompt of " + Number(kRemoteLongTokensMin) + " tokens or more";
  }

  void AddOutputLength() {
    for (const auto& [tokens, count] : {std::pair{16u, sizes_.batch_prompts}, {128u, sizes_.output_128_prompts}}) {
      Cell& cell = NewCell(Axis::kOutputLength, Number(tokens),
                           "answers of " + Number(tokens) + " tokens while other requests come and go");
      cell.in_flight = 2;
      cell.company_min = 1;
      for (const uint32_t prompt : chooser_.Choose({.count = count, .answer_tokens = tokens}, Order::kAsGiven))
        cell.requests.push_back({.prompt = prompt, .tokens_max = tokens});
    }
  }

  void AddBatchShape() {
    Cell& uniform = NewCell(Axis::kBatchShape, "uniform", "one identical request from 8 clients at once");
    uniform.in_flight = 8;
    for (const uint32_t prompt : Chosen(1, Order::kAsGiven))
      uniform.requests.assign(8, {.prompt = prompt, .tokens_max = sizes_.output_tokens});
    Cell& mixed = NewCell(Axis::kBatchShape, "mixed", "long and short prompts and answers together, 8 in flight");
    mixed.in_flight = 8;
    const uint32_t half = (sizes_.batch_prompts + 1) / 2;
    const auto longest = Chosen(half, Order::kLongestFirst), shortest = Chosen(half, Order::kShortestFirst);
    for (size_t i = 0; i < longest.size(); ++i) {
      mixed.requests.push_back({.prompt = shortest[i], .tokens_max = sizes_.output_tokens});
      mixed.requests.push_back({.prompt = longest[i], .tokens_max = std::max(1u, sizes_.output_tokens / 2)});
    }
  }

  void AddNeighbours() {
    for (const auto& [value, company, words] :
         {std::tuple{"greedy", Company::kGreedy, "greedy neighbours"},
          std::tuple{"hot", Company::kHot, "neighbours at temperature 2 with penalties"}}) {
      Cell& cell = NewCell(Axis::kNeighbours, value, std::string("one request among 3 ") + words);
      cell.in_flight = 4;
      cell.company_min = 3;
      cell.company = company;
      cell.requests = AloneRequests();
    }
  }

  void AddRestart() {
    if (!inputs_.restarts) return;
    Cell& cell = NewCell(Axis::kProcess, "restarted", "one request alone, after the restart command");
    cell.where = Where::kRestarted;
    cell.requests = AloneRequests();
  }

  void AddOrder() {
    for (const char* value : {"as given", "reversed"}) {
      Cell& cell = NewCell(Axis::kOrder, value, std::string("4 requests in flight, submitted ") + value);
      cell.in_flight = 4;
      cell.requests = Requests(Chosen(sizes_.batch_prompts, Order::kAsGiven));
      cell.reordered = cell.value != "as given";
      if (cell.reordered) std::reverse(cell.requests.begin(), cell.requests.end());
    }
  }

  void AddSamples() {
    for (const uint32_t n : {1u, 4u, 8u}) {
      Cell& cell = NewCell(Axis::kSamples, Number(n), "one request at T = 0.8 with n = " + Number(n));
      if (!inputs_.seeds) {
        cell.impossible = "the server refuses seeds, and samples without one cannot be compared";
        continue;
      }
      for (const uint32_t prompt : Chosen(1, Order::kAsGiven))
        cell.requests.push_back(
            {.prompt = prompt, .sampling = SamplingKind::kSeeded, .tokens_max = sizes_.output_tokens, .samples = n});
    }
  }

  void AddStreaming() {
    for (const bool streamed : {false, true}) {
      Cell& cell = NewCell(Axis::kStreaming, streamed ? "streamed" : "whole",
                           streamed ? "one request alone, its answer streamed" : "one request alone, its answer whole");
      cell.streamed = streamed;
      cell.requests = Requests(Chosen(sizes_.batch_prompts, Order::kAsGiven));
    }
  }

  void AddRepeats() {
    for (const uint32_t calls : {2u, 8u}) {
      Cell& cell = NewCell(Axis::kRepeat, "call " + Number(calls), "one request alone, asked again and again, up to call " + Number(calls));
      for (const CellRequest& request : AloneRequests()) cell.requests.insert(cell.requests.end(), calls - 1, request);
    }
  }

 private:
  Cell& NewCell(Axis axis, std::string value, std::string description) {
    // Cells refer to each other only within one Add function, which makes two at most.
    cells_.reserve(64);
    Cell& cell = cells_.emplace_back();
    cell.axis = axis;
    cell.value = std::move(value);
    cell.description = std::move(description);
    return cell;
  }

  std::vector<uint32_t> Chosen(uint32_t count, Order order) const {
    return chooser_.Choose({.count = count, .answer_tokens = sizes_.output_tokens}, order);
  }

  std::vector<CellRequest> Requests(const std::vector<uint32_t>& prompts) const {
    std::vector<CellRequest> requests;
    for (const uint32_t prompt : prompts) {
      requests.push_back({.prompt = prompt, .tokens_max = sizes_.output_tokens});
      if (std::binary_search(seeded_.begin(), seeded_.end(), prompt))
        requests.push_back({.prompt = prompt, .sampling = SamplingKind::kSeeded, .tokens_max = sizes_.output_tokens});
    }
    return requests;
  }

  std::vector<CellRequest> AloneRequests() const {
    std::vector<CellRequest> requests;
    for (const uint32_t prompt : Chosen(sizes_.alone_prompts, Order::kAsGiven))
      requests.push_back({.prompt = prompt, .tokens_max = sizes_.output_tokens});
    if (!seeded_.empty())
      requests.push_back({.prompt = seeded_.front(), .sampling = SamplingKind::kSeeded, .tokens_max = sizes_.output_tokens});
    return requests;
  }

  const RemotePlanInputs& inputs_;
  const PlanSizes& sizes_;
  const PromptChooser chooser_;
  std::vector<uint32_t> seeded_;  // ascending
  std::vector<Cell> cells_;
};

uint32_t EstimatedTokens(const Prompt& prompt) {
  size_t bytes = 0;
  for (const text::ChatMessage& message : prompt.messages) bytes += message.content.size();
  return static_cast<uint32_t>(bytes / kBytesPerToken) + 1;
}

}  // namespace

std::vector<Cell> MakeRemotePlan(const RemotePlanInputs& inputs) {
  RemotePlan plan(inputs);
  plan.AddConcurrency();
  plan.AddPromptLength();
  plan.AddOutputLength();
  plan.AddBatchShape();
  plan.AddNeighbours();
  plan.AddRestart();
  plan.AddOrder();
  plan.AddSamples();
  plan.AddStreaming();
  plan.AddRepeats();
  return plan.Take();
}

std::vector<PreparedPrompt> RemotePrompts(const std::vector<Prompt>& written, const PlanSizes& sizes) {
  std::vector<PreparedPrompt> prepared;
  const auto add = [&](const Prompt& prompt) {
    PreparedPrompt& one = prepared.emplace_back();
    one.id = prompt.id;
    one.category = prompt.category;
    one.tokens_max = prompt.tokens_max;
    one.messages = prompt.messages;
    one.tokens_estimated = EstimatedTokens(prompt);
  };
  for (const Prompt& prompt : written) add(prompt);
  for (const uint32_t tokens : sizes.long_prompt_tokens)
    if (tokens <= kLongTokensMax) add(LongPromptOf("long-" + Number(tokens), tokens / kTokensPerRecord));
  return prepared;
}

}  // namespace samebit::verify
