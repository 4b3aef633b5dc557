// The axes that an operator or a machine moves: settings of the engine, and the process it runs in.
#include <algorithm>

#include "verify/plan_maker.h"

namespace samebit::verify {
namespace {

std::string Number(uint32_t number) { return std::to_string(number); }

constexpr uint32_t kTwoPages = 2 * 64;  // tokens of two KV pages of the base

}  // namespace

void PlanMaker::AddPrefillChunk() {
  const uint32_t tokens = inputs_.sizes.output_tokens;
  const uint32_t count = inputs_.sizes.alone_prompts;
  Cell& whole = NewCell(Axis::kPrefillChunk, "whole", "each prompt in one pass");
  PrefillWhole(whole);
  whole.requests =
      RequestsFor(chooser_.Choose({.count = count + 1, .answer_tokens = tokens, .prompt_tokens_max = kWholePrefillRows},
                                  Order::kLongestFirst),
                  tokens);
  for (const CellRequest& request : AloneRequests()) whole.requests.push_back(request);
  Require(whole, "no prompt fits the model's context");
  for (uint32_t chunk : {1u, 7u, 64u, 512u}) {
    Cell& cell = NewCell(Axis::kPrefillChunk, Number(chunk), "prompts in chunks of " + Number(chunk));
    cell.options.prefill_chunk = chunk;
    const Wish wish = {.count = count, .answer_tokens = tokens, .prompt_tokens_min = chunk + 1};
    cell.requests = RequestsFor(chooser_.Choose(wish, chunk < 64 ? Order::kAsGiven : Order::kShortestFirst), tokens);
    Require(cell, "no prompt is longer than " + Number(chunk) + " tokens and fits the context of " +
                      Number(inputs_.context_max));
  }
}

void PlanMaker::AddPrefixCache() {
  const uint32_t tokens = inputs_.sizes.output_tokens;
  const Wish wish = {
      .count = std::max(1u, inputs_.sizes.alone_prompts / 2), .answer_tokens = tokens, .prompt_tokens_min = kTwoPages};
  const std::vector<CellRequest> requests = RequestsFor(chooser_.Choose(wish, Order::kShortestFirst), tokens);
  const std::string why = "no prompt of two KV pages (" + Number(kTwoPages) + " tokens)";

  Cell& off = NewCell(Axis::kPrefixCache, "off", "no prefix cache, each request for the second time");
  off.before = Before::kSameRequests;
  off.requests = requests;
  Require(off, why);

  Cell& cold = NewCell(Axis::kPrefixCache, "cold", "prefix cache on and emptied before each request");
  cold.options.prefix_cache = true;
  cold.drop_prefixes = true;
  cold.requests = requests;
  Require(cold, why);

  Cell& warm = NewCell(Axis::kPrefixCache, "warm", "prefix cache on, each request for the second time");
  warm.options.prefix_cache = true;
  warm.before = Before::kSameRequests;
  warm.requests = requests;
  Require(warm, why);
}

void PlanMaker::AddPreemption() {
  Cell& cell = NewCell(Axis::kPreemption, "forced", "4 in flight; the newest loses its pages every 5 steps");
  // Whole prefill: recomputed token by token, a preempted request would be preempted again before it has caught up.
  PrefillWhole(cell);
  cell.options.preempt_every_steps = 5;
  cell.in_flight = 4;
  cell.requests = BatchRequests();
  Require(cell, "no prompt fits the model's context");
}

void PlanMaker::AddTensorParallel() {
  for (uint32_t ranks : {1u, 2u, 4u}) {
    Cell& cell = NewCell(Axis::kTensorParallel, Number(ranks),
                         "the reduction tree of " + Number(ranks) + (ranks == 1 ? " rank" : " ranks, in this process"));
    cell.options.tensor_parallel = ranks;
    cell.requests = AloneRequests();
    Require(cell, "no prompt fits the model's context");
  }
}

void PlanMaker::AddThreads() {
  std::vector<uint32_t> counts = {1, 2, 3, 4};
  if (inputs_.cores > 4) counts.push_back(inputs_.cores);
  for (uint32_t threads : counts) {
    Cell& cell = NewCell(Axis::kThreads, Number(threads), Number(threads) + (threads == 1 ? " thread" : " threads"));
    cell.options.threads = threads;
    cell.requests = AloneRequests();
    Require(cell, "no prompt fits the model's context");
  }
}

void PlanMaker::AddIsa() {
  const PlanSizes& sizes = inputs_.sizes;
  for (kernels::Isa isa : inputs_.isas) {
    Cell& cell = NewCell(Axis::kIsa, kernels::IsaName(isa), std::string("kernels for ") + kernels::IsaName(isa));
    cell.options.isa = isa;
    cell.requests = AloneRequests();
    if (isa == kernels::Isa::kScalar && inputs_.isas.size() > 1) {
      cell.requests.clear();
      for (uint32_t prompt : chooser_.Choose(
               {.count = sizes.scalar_prompts, .answer_tokens = sizes.scalar_output_tokens}, Order::kShortestFirst))
        cell.requests.push_back({.prompt = prompt, .tokens_max = sizes.scalar_output_tokens});
    }
    Require(cell, "no prompt fits the model's context");
  }
}

void PlanMaker::AddProcess() {
  Cell& same = NewCell(Axis::kProcess, "same", "an engine that has served others before");
  same.before = Before::kOtherRequests;
  same.requests = AloneRequests();
  Require(same, "no prompt fits the model's context");

  Cell& restarted = NewCell(Axis::kProcess, "restarted", "a freshly started process");
  restarted.where = Where::kRestarted;
  restarted.requests = AloneRequests();
  Require(restarted, "no prompt fits the model's context");

  Cell& redeployed =
      NewCell(Axis::kProcess, "redeployed",
              "a fresh process, another copy of the model, other threads, pages, chunks, cache and kernels");
  redeployed.where = Where::kRedeployed;
  redeployed.in_flight = 8;
  redeployed.options.threads = inputs_.base.threads == 1 ? 2 : 1;
  redeployed.options.page_tokens = 32;
  redeployed.options.prefill_chunk = 48;
  redeployed.options.prefill_beside_decodes = 20;
  redeployed.options.prefix_cache = true;
  redeployed.options.sequences_max = 16;
  for (kernels::Isa isa : inputs_.isas)
    if (isa != inputs_.base.isa && isa != kernels::Isa::kScalar) redeployed.options.isa = isa;
  redeployed.requests = BatchRequests();
  Require(redeployed, "no prompt fits the model's context");
}

void PlanMaker::AddPageTokens() {
  const uint32_t tokens = inputs_.sizes.output_tokens;
  for (uint32_t page : {16u, 32u, 64u, 128u, 256u}) {
    Cell& cell = NewCell(Axis::kPageTokens, Number(page), "KV pages of " + Number(page) + " tokens, prompts whole");
    cell.options.page_tokens = page;
    PrefillWhole(cell);
    // Longer than a page with its answer, so that a boundary between pages is crossed.
    const uint32_t prompt_min = page + 1 > tokens ? page + 1 - tokens : 1;
    cell.requests = RequestsFor(chooser_.Choose({.count = inputs_.sizes.alone_prompts,
                                                 .answer_tokens = tokens,
                                                 .prompt_tokens_min = std::max(prompt_min, kTwoPages),
                                                 .prompt_tokens_max = kWholePrefillRows},
                                                Order::kShortestFirst),
                                tokens);
    Require(cell, "no prompt with its answer fills more than one page of " + Number(page) + " tokens");
  }
}

}  // namespace samebit::verify
