// Who runs in the next step: decodes first, then prompts in chunks, then newcomers, within the rows of a step and the
// pages of the cache. When pages run out, the newest sequence gives its pages back and is computed again later.
//
// The schedule decides speed and fairness and cannot decide bits. It depends on the requests and on counts of steps and
// rows, never on a clock.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/forward/batch.h"
#include "engine/kv_cache.h"
#include "engine/options.h"
#include "engine/sequence.h"

namespace samebit::engine {

class Scheduler {
 public:
  Scheduler(const EngineOptions& options, KvCache& cache) : options_(options), cache_(cache) {}

  // A new sequence waits to be admitted.
  void Add(Sequence* sequence);
  // A fork of a running sequence that shares its pages, or starts from nothing where pages or slots are short.
  void AddFork(const Sequence& parent, Sequence* child);
  // The sequence is over: its pages go back.
  void Remove(Sequence* sequence);

  struct Item {
    Sequence* sequence = nullptr;
    uint32_t row_count = 0;
  };
  // Chooses this step's rows and makes sure that their pages exist. Empty: nothing can run.
  std::vector<Item> Choose();

  // The rows of `item` have been computed: full pages are offered to the prefix index.
  void Computed(const Item& item);

  // Preempts the newest running sequence, at most twice before it makes another token. For tests of preemption.
  void PreemptNewest();

  uint64_t preemptions() const { return preemptions_; }
  uint64_t cached_tokens() const { return cached_tokens_; }

 private:
  bool EnsurePages(Sequence& sequence, uint32_t tokens);
  // Preempts sequences newer than `keep` until it has pages for `tokens`; false: it would have to give way itself.
  bool MakeRoom(Sequence& keep, uint32_t tokens);
  void Preempt(Sequence* sequence);
  void ReleasePages(Sequence& sequence);
  void Unblock(std::vector<Item>& items);
  void AdmitWaiting(std::vector<Item>& items, uint32_t& rows_left);
  bool Admit(Sequence& sequence);
  uint32_t PagesFor(uint32_t tokens) const { return (tokens + options_.page_tokens - 1) / options_.page_tokens; }

  const EngineOptions& options_;
  KvCache& cache_;
  std::vector<Sequence*> running_;  // by age
  std::vector<Sequence*> waiting_;  // by priority, then age
  uint64_t preemptions_ = 0;
  uint64_t cached_tokens_ = 0;
};

}  // namespace samebit::engine
