// The scheduler by itself: sequences of made-up tokens and no arithmetic.
#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>

#include "arith/test_support.h"
#include "engine/request_state.h"

namespace samebit::engine {
namespace {

constexpr uint32_t kPageTokens = 16;

// A scheduler with its cache and requests; plays the engine's part of a step.
class Stage {
 public:
  explicit Stage(EngineOptions options, uint32_t pages)
      : options_(Prepare(options)), cache_(Shape(pages), options.prefix_cache), scheduler_(options_, cache_) {}

  RequestState& AddRequest(uint32_t prompt, uint32_t answer, TokenId content = 0) {
    RequestState& state = states_.emplace_back();
    state.id = states_.size();
    for (uint32_t i = 0; i < prompt; ++i) state.request.prompt.push_back(content + static_cast<TokenId>(i));
    state.request.tokens_max = answer;
    scheduler_.Add(&NewSequence(state));
    return state;
  }

  Sequence& NewSequence(RequestState& state) {
    auto sequence = std::make_unique<Sequence>();
    sequence->request = &state;
    sequence->sample = static_cast<uint32_t>(state.sequences.size());
    sequence->arrival = state.id;
    sequence->tokens = state.request.prompt;
    state.sequences.push_back(std::move(sequence));
    return *state.sequences.back();
  }

  // One step; false: nothing ran.
  bool Step() {
    items_ = scheduler_.Choose();
    CheckItems();
    for (const Scheduler::Item& item : items_) {
      scheduler_.Computed(item);
      Sequence& sequence = *item.sequence;
      if (sequence.remaining() > 0) continue;
      if (sequence.tokens.size() >= sequence.request->request.prompt.size() + sequence.request->request.tokens_max) {
        sequence.finished = true;
        scheduler_.Remove(&sequence);
      } else {
        sequence.tokens.push_back(static_cast<TokenId>(1000 * sequence.request->id + sequence.tokens.size()));
      }
    }
    CheckPages();
    return !items_.empty();
  }

  uint32_t RowsOf(const Sequence& sequence) const {
    for (const Scheduler::Item& item : items_)
      if (item.sequence == &sequence) return item.row_count;
    return 0;
  }

  bool AllFinished() const {
    return std::all_of(states_.begin(), states_.end(), [](const RequestState& state) {
      return std::all_of(state.sequences.begin(), state.sequences.end(),
                         [](const auto& sequence) { return sequence->finished; });
    });
  }

  Scheduler& scheduler() { return scheduler_; }
  KvCache& cache() { return cache_; }
  std::list<RequestState>& states() { return states_; }
  const std::vector<Scheduler::Item>& items() const { return items_; }

 private:
  static EngineOptions Prepare(EngineOptions options) {
    options.page_tokens = kPageTokens;
    return options;
  }
  static KvCacheShape Shape(uint32_t pages) {
    KvCacheShape shape{1, 1, {kernels::CacheType::kF16, 16, kPageTokens}, 0};
    shape.budget_bytes = uint64_t{shape.head.bytes()} * pages;
    return shape;
  }

  void CheckItems() const {
    uint32_t rows = 0;
    std::vector<const Sequence*> seen;
    for (const Scheduler::Item& item : items_) {
      rows += item.row_count;
      EXPECT_GT(item.row_count, 0u);
      EXPECT_LE(item.row_count, item.sequence->remaining());
      EXPECT_LE(item.row_count, std::max(1u, options_.prefill_chunk));
      EXPECT_TRUE(item.sequence->running);
      EXPECT_FALSE(item.sequence->finished);
      EXPECT_GE(item.sequence->pages.size() * kPageTokens, item.sequence->computed + item.row_count);
      EXPECT_EQ(std::count(seen.begin(), seen.end(), item.sequence), 0) << "a sequence was chosen twice";
      seen.push_back(item.sequence);
    }
    EXPECT_LE(rows, options_.step_rows_max);
    EXPECT_LE(items_.size(), options_.sequences_max);
  }

  // Every page that a table holds is counted; none that is still written is shared.
  void CheckPages() {
    std::map<PageId, uint32_t> holders;
    uint32_t running = 0;
    for (const RequestState& state : states_) {
      for (const auto& sequence : state.sequences) {
        running += sequence->running;
        EXPECT_TRUE(sequence->running || sequence->pages.empty());
        for (PageId page : sequence->pages) ++holders[page];
      }
    }
    EXPECT_LE(running, options_.sequences_max);
    EXPECT_EQ(cache_.free_pages() + holders.size(), cache_.page_count()) << "a page was lost or given out twice";
    for (const RequestState& state : states_)
      for (const auto& sequence : state.sequences)
        for (size_t i = sequence->computed / kPageTokens; i < sequence->pages.size(); ++i)
          EXPECT_EQ(holders[sequence->pages[i]], 1u) << "a page that is written to has two owners";
  }

  EngineOptions options_;
  KvCache cache_;
  Scheduler scheduler_;
  std::list<RequestState> states_;
  std::vector<Scheduler::Item> items_;
};

EngineOptions Options(uint32_t rows, uint32_t chunk, uint32_t sequences, bool prefix_cache = false) {
  EngineOptions options;
  options.step_rows_max = rows;
  options.prefill_chunk = chunk;
  options.sequences_max = sequences;
  options.prefix_cache = prefix_cache;
  return options;
}

TEST(Scheduler, cuts_prompts_into_chunks_and_keeps_the_rows_of_a_step) {
  Stage stage(Options(10, 7, 4), 32);
  const Sequence& first = *stage.AddRequest(17, 3).sequences[0];
  const Sequence& second = *stage.AddRequest(9, 3).sequences[0];
  ASSERT_TRUE(stage.Step());
  EXPECT_EQ(stage.RowsOf(first), 7u);
  EXPECT_EQ(stage.RowsOf(second), 3u);
  ASSERT_TRUE(stage.Step());
  EXPECT_EQ(stage.RowsOf(first), 7u);
  EXPECT_EQ(stage.RowsOf(second), 3u);
  ASSERT_TRUE(stage.Step());
  EXPECT_EQ(stage.RowsOf(first), 3u);
  EXPECT_EQ(stage.RowsOf(second), 3u);
  ASSERT_TRUE(stage.Step());
  EXPECT_EQ(stage.RowsOf(first), 1u);
  EXPECT_EQ(stage.RowsOf(second), 1u);
}

TEST(Scheduler, decodes_go_before_prompts) {
  Stage stage(Options(4, 4, 4), 32);
  const Sequence& decode = *stage.AddRequest(1, 20).sequences[0];
  stage.Step();
  const Sequence& prompt = *stage.AddRequest(40, 1).sequences[0];
  for (int i = 0; i < 5; ++i) {
    stage.Step();
    EXPECT_EQ(stage.RowsOf(decode), 1u);
    EXPECT_EQ(stage.RowsOf(prompt), 3u);
  }
}

TEST(Scheduler, prompts_beside_decodes_take_few_rows_and_all_of_them_when_nothing_decodes) {
  EngineOptions options = Options(32, 16, 4);
  options.prefill_beside_decodes = 5;
  Stage stage(options, 64);
  const Sequence& decode = *stage.AddRequest(20, 4).sequences[0];
  stage.Step();
  EXPECT_EQ(stage.RowsOf(decode), 16u);
  stage.Step();
  const Sequence& first = *stage.AddRequest(7, 1).sequences[0];
  const Sequence& second = *stage.AddRequest(40, 1).sequences[0];
  stage.Step();
  EXPECT_EQ(stage.RowsOf(decode), 1u);
  EXPECT_EQ(stage.RowsOf(first), 5u);
  EXPECT_EQ(stage.RowsOf(second), 0u);
  stage.Step();
  EXPECT_EQ(stage.RowsOf(decode), 1u);
  EXPECT_EQ(stage.RowsOf(first), 2u);
  EXPECT_EQ(stage.RowsOf(second), 3u);
  while (!decode.finished) stage.Step();
  stage.Step();
  EXPECT_EQ(stage.RowsOf(second), 16u);
}

TEST(Scheduler, runs_no_more_sequences_than_there_are_slots_and_the_urgent_first) {
  Stage stage(Options(64, 64, 2), 32);
  stage.AddRequest(4, 5);
  const Sequence& late = *stage.AddRequest(4, 5).sequences[0];
  RequestState& urgent = stage.AddRequest(4, 5);
  stage.scheduler().Remove(urgent.sequences[0].get());
  urgent.request.priority_order = -1;
  stage.scheduler().Add(urgent.sequences[0].get());
  stage.Step();
  EXPECT_EQ(stage.items().size(), 2u);
  EXPECT_TRUE(urgent.sequences[0]->running);
  EXPECT_FALSE(late.running);
}

TEST(Scheduler, takes_pages_from_the_newest_and_computes_it_again) {
  Stage stage(Options(64, 64, 8), 4);
  const RequestState& older = stage.AddRequest(15, 40);
  const RequestState& newer = stage.AddRequest(15, 40);
  while (stage.Step()) {
  }
  EXPECT_TRUE(stage.AllFinished());
  EXPECT_EQ(older.trace.preemptions, 0u);
  EXPECT_GT(newer.trace.preemptions, 0u);
  EXPECT_EQ(stage.cache().free_pages(), 4u);
}

TEST(Scheduler, forced_preemption_takes_the_newest_and_not_for_ever) {
  Stage stage(Options(64, 1, 8), 16);
  const RequestState& older = stage.AddRequest(20, 2);
  const RequestState& newer = stage.AddRequest(20, 2);
  for (int step = 0; step < 2000; ++step) {
    stage.scheduler().PreemptNewest();
    if (!stage.Step()) break;
  }
  EXPECT_TRUE(stage.AllFinished());
  EXPECT_GE(newer.trace.preemptions, 2u);
  EXPECT_LE(newer.trace.preemptions + older.trace.preemptions, 2u * 2 * 3);  // twice at each of three lengths
}

TEST(Scheduler, a_fork_shares_full_pages_and_copies_the_last) {
  Stage stage(Options(64, 64, 8), 16);
  RequestState& state = stage.AddRequest(40, 10);
  stage.Step();
  Sequence& parent = *state.sequences[0];
  Sequence& child = stage.NewSequence(state);
  stage.scheduler().AddFork(parent, &child);
  ASSERT_EQ(child.pages.size(), 3u);
  EXPECT_EQ(child.pages[0], parent.pages[0]);
  EXPECT_EQ(child.pages[1], parent.pages[1]);
  EXPECT_NE(child.pages[2], parent.pages[2]);
  EXPECT_EQ(child.computed, 40u);
  child.tokens.push_back(7);
  while (stage.Step()) {
  }
  EXPECT_TRUE(stage.AllFinished());
  EXPECT_EQ(stage.cache().free_pages(), 16u);
}

TEST(Scheduler, a_fork_without_a_page_or_a_slot_waits_and_starts_from_nothing) {
  for (bool no_slot : {true, false}) {
    Stage stage(Options(64, 64, no_slot ? 1 : 8), no_slot ? 16 : 3);
    RequestState& state = stage.AddRequest(40, 8);
    stage.Step();
    Sequence& child = stage.NewSequence(state);
    stage.scheduler().AddFork(*state.sequences[0], &child);
    EXPECT_FALSE(child.running);
    EXPECT_EQ(child.computed, 0u);
    child.tokens.push_back(7);
    while (stage.Step()) {
    }
    EXPECT_TRUE(stage.AllFinished());
  }
}

TEST(Scheduler, takes_a_known_prefix_and_computes_at_least_the_last_token) {
  Stage stage(Options(64, 64, 8, true), 16);
  stage.AddRequest(32, 1);
  while (stage.Step()) {
  }
  EXPECT_EQ(stage.scheduler().cached_tokens(), 0u);
  const RequestState& again = stage.AddRequest(32, 1);
  stage.Step();
  EXPECT_EQ(again.trace.cached_prompt_tokens, 16u);  // the second page would leave nothing to compute
  EXPECT_EQ(stage.RowsOf(*again.sequences[0]), 16u);
  RequestState& scored = stage.AddRequest(33, 1);
  scored.request.score_prompt = true;
  stage.Step();
  EXPECT_EQ(scored.trace.cached_prompt_tokens, 0u) << "scoring needs the logits of every position";
}

TEST(Scheduler, beams_that_wait_for_a_preempted_beam_get_it_back) {
  Stage stage(Options(64, 8, 8), 6);
  RequestState& state = stage.AddRequest(20, 8);
  for (int step = 0; step < 3; ++step) stage.Step();
  Sequence& leader = *state.sequences[0];
  Sequence& sibling = stage.NewSequence(state);
  sibling.tokens = leader.tokens;
  stage.AddRequest(30, 20);
  stage.Step();
  stage.scheduler().Add(&sibling);
  leader.waits_for_beams = true;
  for (int step = 0; step < 60 && sibling.remaining() > 1; ++step) ASSERT_TRUE(stage.Step()) << "nobody can go on";
  EXPECT_EQ(sibling.remaining(), 1u);
  leader.waits_for_beams = false;
  while (stage.Step()) {
  }
  EXPECT_TRUE(stage.AllFinished());
}

TEST(Scheduler, beams_that_wait_for_a_beam_without_pages_take_them_from_the_newest) {
  Stage stage(Options(64, kPageTokens, 8), 9);
  RequestState& state = stage.AddRequest(20, 70);
  for (int step = 0; step < 2; ++step) stage.Step();
  Sequence& leader = *state.sequences[0];
  Sequence& sibling = stage.NewSequence(state);
  sibling.tokens.resize(5 * kPageTokens);
  stage.scheduler().Add(&sibling);
  const RequestState& other = stage.AddRequest(4 * kPageTokens, 2);
  leader.waits_for_beams = true;
  // Both are admitted, since each fits; together they do not, and after four steps neither gets another page.
  for (int step = 0; step < 4; ++step) ASSERT_TRUE(stage.Step());
  EXPECT_EQ(stage.cache().free_pages(), 0u);
  EXPECT_TRUE(sibling.running && other.sequences[0]->running);
  ASSERT_TRUE(stage.Step()) << "nobody can go on";
  EXPECT_EQ(stage.RowsOf(sibling), kPageTokens);
  EXPECT_EQ(other.trace.preemptions, 1u);
  leader.waits_for_beams = false;
  while (stage.Step()) {
  }
  EXPECT_TRUE(stage.AllFinished());
}

TEST(Scheduler, everything_finishes_in_random_traffic) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    arith::testing::Random random(seed);
    const uint32_t pages = 6 + random.Below(20);
    EngineOptions options =
        Options(1 + random.Below(40), 1 + random.Below(20), 1 + random.Below(8), random.Below(2) == 0);
    Stage stage(options, pages);
    uint32_t to_come = 12;
    uint32_t idle = 0;
    for (int step = 0; step < 20000; ++step) {
      if (to_come > 0 && random.Below(6) == 0) {
        const uint32_t prompt = 1 + random.Below(3 * kPageTokens), answer = 1 + random.Below(2 * kPageTokens);
        RequestState& state = stage.AddRequest(prompt, answer, static_cast<TokenId>(random.Below(2) * 500));
        state.request.priority_order = static_cast<int32_t>(random.Below(3));
        --to_come;
      }
      if (random.Below(10) == 0) stage.scheduler().PreemptNewest();
      if (random.Below(50) == 0) stage.cache().DropIndex();
      const bool ran = stage.Step();
      if (random.Below(12) == 0 && ran) {
        Sequence& parent = *stage.items()[0].sequence;
        if (!parent.finished && parent.running && parent.request->sequences.size() < 4) {
          Sequence& child = stage.NewSequence(*parent.request);
          child.tokens = parent.tokens;
          stage.scheduler().AddFork(parent, &child);
        }
      }
      if (!ran && !stage.AllFinished()) ++idle;
      ASSERT_LE(idle, 0u) << "seed " << seed << ": nothing runs and not everything is done";
      if (to_come == 0 && stage.AllFinished()) break;
    }
    EXPECT_TRUE(stage.AllFinished()) << "seed " << seed;
    EXPECT_EQ(stage.cache().free_pages(), pages) << "seed " << seed;
  }
}

}  // namespace
}  // namespace samebit::engine
