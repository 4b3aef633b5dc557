// One sequence: the tokens of one sample (or beam) and how far its KV cache has come. Engine-internal.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/types.h"
#include "engine/kv_cache.h"
#include "text/grammar.h"

namespace samebit::engine {

struct RequestState;

struct Sequence {
  RequestState* request = nullptr;
  uint32_t sample = 0;               // index among the request's samples or beams
  uint64_t arrival = 0;              // order among sequences; preemption takes the newest
  std::vector<TokenId> tokens;       // prompt, then answer
  uint32_t computed = 0;             // tokens whose keys and values are in the cache
  std::vector<PageId> pages;         // table; holds at least `computed` tokens
  uint32_t indexed_pages = 0;        // leading pages that the prefix index knows
  KvCache::PrefixKey prefix_key{};   // of those pages
  std::unique_ptr<text::GrammarState> grammar;  // has taken the answer's tokens; null: the request has none
  bool running = false;              // admitted to the batch; waiting otherwise
  bool waits_for_beams = false;      // a beam that is done with this position
  bool finished = false;
  uint32_t forced_at_tokens = 0;     // its length when it was last preempted by force
  uint32_t forced_here = 0;          // how often that happened at this length

  uint32_t remaining() const { return static_cast<uint32_t>(tokens.size()) - computed; }
};

}  // namespace samebit::engine
