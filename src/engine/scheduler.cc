#include "engine/scheduler.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "engine/request_state.h"

namespace samebit::engine {

namespace {

// Forced preemptions of a sequence before it makes another token: the second may come in the middle of the recovery
// from the first; without a limit a long prompt in small chunks would never be done.
constexpr uint32_t kForcedPreemptionsMax = 2;

bool Older(const Sequence* a, const Sequence* b) {
  return std::tie(a->arrival, a->sample) < std::tie(b->arrival, b->sample);
}

bool Sooner(const Sequence* a, const Sequence* b) {
  const int32_t order_a = a->request->request.priority_order, order_b = b->request->request.priority_order;
  return std::tie(order_a, a->arrival, a->sample) < std::tie(order_b, b->arrival, b->sample);
}

template <class Before>
void InsertSorted(std::vector<Sequence*>& list, Sequence* sequence, Before before) {
  list.insert(std::upper_bound(list.begin(), list.end(), sequence, before), sequence);
}

}  // namespace

void Scheduler::Add(Sequence* sequence) {
  sequence->running = false;
  InsertSorted(waiting_, sequence, Sooner);
}

void Scheduler::AddFork(const Sequence& parent, Sequence* child) {
  const uint32_t full_pages = parent.computed / options_.page_tokens;
  const bool has_partial = parent.computed % options_.page_tokens != 0;
  std::optional<PageId> partial;
  if (running_.size() >= options_.sequences_max || (has_partial && !(partial = cache_.Allocate()))) {
    child->computed = 0;
    Add(child);
    return;
  }
  for (uint32_t i = 0; i < full_pages; ++i) {
    cache_.AddReference(parent.pages[i]);
    child->pages.push_back(parent.pages[i]);
  }
  if (has_partial) {
    cache_.CopyPage(parent.pages[full_pages], *partial);
    child->pages.push_back(*partial);
  }
  child->computed = parent.computed;
  child->indexed_pages = parent.indexed_pages;
  child->prefix_key = parent.prefix_key;
  child->running = true;
  InsertSorted(running_, child, Older);
}

void Scheduler::Remove(Sequence* sequence) {
  ReleasePages(*sequence);
  sequence->running = false;
  std::erase(running_, sequence);
  std::erase(waiting_, sequence);
}

void Scheduler::ReleasePages(Sequence& sequence) {
  for (PageId page : sequence.pages) cache_.Release(page);
  sequence.pages.clear();
  sequence.computed = 0;
  sequence.indexed_pages = 0;
  sequence.prefix_key = {};
}

void Scheduler::Preempt(Sequence* sequence) {
  ReleasePages(*sequence);
  std::erase(running_, sequence);
  ++preemptions_;
  ++sequence->request->trace.preemptions;
  Add(sequence);
}

void Scheduler::PreemptNewest() {
  if (running_.empty()) return;
  Sequence* newest = running_.back();
  const auto tokens = static_cast<uint32_t>(newest->tokens.size());
  if (newest->forced_at_tokens != tokens) newest->forced_here = 0;
  if (newest->forced_here == kForcedPreemptionsMax) return;
  newest->forced_at_tokens = tokens;
  ++newest->forced_here;
  Preempt(newest);
}

bool Scheduler::EnsurePages(Sequence& sequence, uint32_t tokens) {
  while (sequence.pages.size() < PagesFor(tokens)) {
    const std::optional<PageId> page = cache_.Allocate();
    if (!page) return false;
    sequence.pages.push_back(*page);
  }
  return true;
}

bool Scheduler::MakeRoom(Sequence& keep, uint32_t tokens) {
  while (!EnsurePages(keep, tokens)) {
    Sequence* newest = running_.back();
    if (newest == &keep) return false;
    Preempt(newest);
  }
  return true;
}

std::vector<Scheduler::Item> Scheduler::Choose() {
  std::vector<Item> items;
  uint32_t rows_left = options_.step_rows_max;
  // Decodes, oldest first. A sequence that cannot get a page has no newer one to take it from: it gives way.
  for (size_t i = 0; i < running_.size() && rows_left > 0; ++i) {
    Sequence* sequence = running_[i];
    if (sequence->remaining() != 1 || sequence->waits_for_beams) continue;
    if (!MakeRoom(*sequence, sequence->computed + 1)) {
      Preempt(sequence);
      break;
    }
    items.push_back({sequence, 1});
    --rows_left;
  }
  if (!items.empty()) rows_left = std::min(rows_left, options_.prefill_beside_decodes);
  // Prompts (and answers that are computed again), oldest first, in chunks.
  for (size_t i = 0; i < running_.size() && rows_left > 0; ++i) {
    Sequence* sequence = running_[i];
    if (sequence->remaining() <= 1 || sequence->waits_for_beams) continue;
    const uint32_t rows = std::min({sequence->remaining(), options_.prefill_chunk, rows_left});
    if (!EnsurePages(*sequence, sequence->computed + rows)) break;  // older ones free pages as they end
    items.push_back({sequence, rows});
    rows_left -= rows;
  }
  AdmitWaiting(items, rows_left);
  if (items.empty() && !running_.empty()) Unblock(items);
  // A sequence chosen early may have been preempted for an older one since.
  std::erase_if(items, [](const Item& item) { return !item.sequence->running; });
  return items;
}

// Nothing could run although sequences do: prompts block each other, or beams wait for a beam that has no pages. The
// oldest request goes on, at the cost of the newest.
void Scheduler::Unblock(std::vector<Item>& items) {
  const RequestState* oldest = running_.front()->request;
  const auto can_go = [&](const Sequence* sequence) {
    return sequence->request == oldest && !sequence->waits_for_beams;
  };
  Sequence* next = nullptr;
  if (const auto found = std::find_if(running_.begin(), running_.end(), can_go); found != running_.end()) {
    next = *found;
  } else if (const auto preempted = std::find_if(waiting_.begin(), waiting_.end(), can_go);
             preempted != waiting_.end()) {
    next = *preempted;
    waiting_.erase(preempted);
    while (running_.back()->request != oldest) Preempt(running_.back());
    next->running = true;
    InsertSorted(running_, next, Older);
  }
  CHECK(next != nullptr);  // a request whose beams all wait has been stepped
  const uint32_t rows = std::min({next->remaining(), options_.prefill_chunk, options_.step_rows_max});
  if (MakeRoom(*next, next->computed + rows)) items.push_back({next, rows});
}

void Scheduler::AdmitWaiting(std::vector<Item>& items, uint32_t& rows_left) {
  while (!waiting_.empty() && rows_left > 0 && running_.size() < options_.sequences_max) {
    Sequence* sequence = waiting_.front();
    if (!Admit(*sequence)) return;
    waiting_.erase(waiting_.begin());
    sequence->running = true;
    InsertSorted(running_, sequence, Older);
    const uint32_t rows = std::min({sequence->remaining(), options_.prefill_chunk, rows_left});
    if (!EnsurePages(*sequence, sequence->computed + rows)) return;
    items.push_back({sequence, rows});
    rows_left -= rows;
  }
}

// Takes what the prefix index knows and sees whether the rest fits beside those that run.
bool Scheduler::Admit(Sequence& sequence) {
  const auto tokens = static_cast<uint32_t>(sequence.tokens.size());
  const bool needs_all_logits = sequence.request->request.score_prompt && !sequence.request->prompt_scored;
  if (!needs_all_logits) {
    // At least the last token is computed: its logits are wanted.
    KvCache::Prefix prefix = cache_.FindPrefix(sequence.tokens, (tokens - 1) / options_.page_tokens);
    sequence.pages = std::move(prefix.pages);
    sequence.prefix_key = prefix.key;
    sequence.indexed_pages = static_cast<uint32_t>(sequence.pages.size());
    sequence.computed = sequence.indexed_pages * options_.page_tokens;
  }
  const uint32_t missing = PagesFor(tokens) - static_cast<uint32_t>(sequence.pages.size());
  // One page of slack for each that runs: they are about to grow, and admitting only to preempt again helps nobody.
  const bool fits = running_.empty() || cache_.free_pages() >= missing + running_.size();
  if (!fits) {
    ReleasePages(sequence);
    return false;
  }
  RequestTrace& trace = sequence.request->trace;
  if (trace.preemptions == 0) trace.cached_prompt_tokens += sequence.computed;
  cached_tokens_ += sequence.computed;
  return true;
}

void Scheduler::Computed(const Item& item) {
  Sequence& sequence = *item.sequence;
  sequence.computed += item.row_count;
  while ((sequence.indexed_pages + 1) * options_.page_tokens <= sequence.computed) {
    const std::span<const TokenId> page_tokens(&sequence.tokens[size_t{sequence.indexed_pages} * options_.page_tokens],
                                               options_.page_tokens);
    sequence.prefix_key = cache_.Index(sequence.prefix_key, page_tokens, sequence.pages[sequence.indexed_pages]);
    ++sequence.indexed_pages;
  }
}

}  // namespace samebit::engine
