// Beam search: the right beams, and the same ones however it is run.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "arith/test_support.h"
#include "support/decoder_run.h"
#include "support/engine_runs.h"

namespace samebit::test {
namespace {

Request BeamRequest(uint32_t width, uint32_t length, uint64_t seed, uint32_t tokens_max) {
  Request request = GreedyRequest(RandomPrompt(length, seed), tokens_max);
  request.beam_width = width;
  request.samples = width;
  return request;
}

// Beam search in the plainest words: every extension of every beam, scored by forward passes from scratch.
struct PlainBeam {
  std::vector<TokenId> tokens;
  double logprob = 0;
};
std::vector<PlainBeam> PlainBeams(const engine::Weights& weights, const Request& request) {
  EngineOptions options;
  options.isa = kernels::BestIsa();
  const uint32_t vocabulary = weights.config.vocabulary;
  std::vector<PlainBeam> beams(1);
  for (uint32_t step = 0; step < request.tokens_max; ++step) {
    std::vector<PlainBeam> extensions;
    for (const PlainBeam& beam : beams) {
      std::vector<TokenId> tokens = request.prompt;
      tokens.insert(tokens.end(), beam.tokens.begin(), beam.tokens.end());
      const std::vector<float> logits = DecoderLogits(weights, tokens, options);
      const float* last = &logits[(tokens.size() - 1) * vocabulary];
      const arith::LogSoftmax normalizer = arith::LogSoftmaxOf(last, vocabulary);
      for (uint32_t id = 0; id < vocabulary; ++id) {
        PlainBeam next = beam;
        next.tokens.push_back(static_cast<TokenId>(id));
        next.logprob += arith::LogProbability(normalizer, last[id]);
        extensions.push_back(next);
      }
    }
    std::stable_sort(extensions.begin(), extensions.end(),
                     [](const PlainBeam& a, const PlainBeam& b) { return a.logprob > b.logprob; });
    extensions.resize(request.beam_width);
    beams = extensions;
  }
  return beams;
}

std::vector<TokenId> IdsOf(const engine::Choice& choice) {
  std::vector<TokenId> ids;
  for (const engine::TokenRecord& token : choice.tokens) ids.push_back(token.id);
  return ids;
}

TEST(BeamBits, beams_are_those_of_the_plain_algorithm) {
  for (const TinyModel& model : DeterminismModels()) {
    const SharedWeights weights = PackTiny(model);
    const Request request = BeamRequest(4, 18, 3, 8);
    const Completion completion = RunAlone(weights, request, Reduction::kLaw);
    const std::vector<PlainBeam> plain = PlainBeams(*weights, request);
    ASSERT_EQ(completion.choices.size(), 4u);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(IdsOf(completion.choices[i]), plain[i].tokens);
      EXPECT_EQ(completion.choices[i].cumulative_logprob, plain[i].logprob);
    }
  }
}

TEST(BeamBits, one_beam_is_greedy) {
  const SharedWeights weights = PackTiny({"gemma3", false});
  const Request beam = BeamRequest(1, 20, 4, 25);
  Request greedy = beam;
  greedy.beam_width = 0;
  EXPECT_EQ(ChoiceBytes(RunAlone(weights, beam, Reduction::kLaw).choices[0]),
            ChoiceBytes(RunAlone(weights, greedy, Reduction::kLaw).choices[0]));
}

TEST(BeamBits, a_stop_id_ends_a_beam_and_not_the_search) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  uint32_t stopped = 0, whole = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Request request = BeamRequest(4, 18, seed, 12);
    request.stop_ids = {RunAlone(weights, request, Reduction::kLaw).choices[0].tokens[0].id};
    for (const engine::Choice& choice : RunAlone(weights, request, Reduction::kLaw).choices) {
      const std::vector<TokenId> ids = IdsOf(choice);
      const bool stops = choice.finish_reason == engine::FinishReason::kStop;
      EXPECT_EQ(std::count(ids.begin(), ids.end(), request.stop_ids[0]), stops ? 1 : 0);
      EXPECT_TRUE(stops ? ids.back() == request.stop_ids[0] : ids.size() == 12);
      ++(stops ? stopped : whole);
    }
  }
  EXPECT_GT(stopped, 0u);
  EXPECT_GT(whole, 0u);
}

TEST(BeamBits, batched_and_in_chunks_and_preempted_are_the_same) {
  for (const TinyModel& model : DeterminismModels()) {
    const SharedWeights weights = PackTiny(model);
    for (uint32_t preempt_every_steps : {0u, 5u}) {
      ExpectLawAndNotControl([&](Reduction reduction) {
        EngineOptions options = TogetherOptions(reduction);
        options.prefill_chunk = 7;
        options.preempt_every_steps = preempt_every_steps;
        std::vector<Request> requests = MixedRequests(4, 50);
        requests.insert(requests.begin() + 2, BeamRequest(4, 30, 5, 25));
        requests.push_back(BeamRequest(3, 17, 6, 30));
        const auto engine = MakeEngine(weights, options);
        const bool equal = EqualAlone(*engine, weights, requests);
        EXPECT_GE(engine->counters().sequences_in_step_max, 7u);
        EXPECT_EQ(engine->counters().preemptions > 0, preempt_every_steps > 0);
        return equal;
      });
    }
  }
}

TEST(BeamBits, beams_that_take_pages_from_each_other_are_the_same) {
  const SharedWeights weights = PackTiny({"llama-untied", false});
  const Request hot = HotRequest(RandomPrompt(4, 9), 150, 1), beams = BeamRequest(4, 4, 7, 60),
                more_beams = BeamRequest(4, 4, 8, 60);
  // The older one takes pages from the newer, also from beams that wait for each other.
  for (const std::vector<Request>& requests :
       {std::vector<Request>{beams, more_beams, hot}, std::vector<Request>{hot, beams, more_beams}}) {
    for (bool prefix_cache : {false, true}) {
      ExpectLawAndNotControl([&](Reduction reduction) {
        EngineOptions options = TogetherOptions(reduction);
        options.prefix_cache = prefix_cache;
        options.prefill_chunk = 8;
        options.cache_bytes = BytesOfPages(*weights, options, 16);  // exactly what one of them may need
        const auto engine = MakeEngine(weights, options);
        const bool equal = EqualAlone(*engine, weights, requests);
        EXPECT_GT(engine->counters().preemptions, 0u);
        EXPECT_LE(engine->cache_bytes_used_max(), options.cache_bytes);
        return equal;
      });
    }
  }
}

TEST(BeamBits, random_traffic_gives_every_beam_search_its_answer) {
  const SharedWeights weights = PackTiny({"llama-untied", false});
  std::vector<Request> pool;
  std::vector<std::string> alone;
  for (uint32_t i = 0; i < 10; ++i) {
    pool.push_back(i % 3 == 2 ? HotRequest(RandomPrompt(4 + 5 * i, i), 40 + 4 * i, i)
                              : BeamRequest(2 + i % 4, 3 + 3 * i, i, 10 + 4 * i));
    alone.push_back(AnswerBytes(RunAlone(weights, pool.back(), Reduction::kLaw)));
  }
  uint64_t preemptions = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    arith::testing::Random random(seed);
    EngineOptions options = TogetherOptions();
    options.prefix_cache = random.Below(2) == 0;
    options.prefill_chunk = 1 + random.Below(12);
    options.step_rows_max = 1 + random.Below(20);
    options.sequences_max = 5 + random.Below(8);
    options.preempt_every_steps = random.Below(2) == 0 ? 0 : 2 + random.Below(9);
    options.cache_bytes = BytesOfPages(*weights, options, 25 + random.Below(10));
    const auto engine = MakeEngine(weights, options);
    std::map<RequestId, uint32_t> submitted;
    uint32_t to_come = 6;
    for (bool worked = true; worked || to_come > 0;) {
      if (to_come > 0 && (!worked || random.Below(8) == 0)) {
        const uint32_t index = random.Below(static_cast<uint32_t>(pool.size()));
        submitted[SubmitOrStop(*engine, pool[index])] = index;
        --to_come;
      }
      worked = engine->Step();
    }
    for (const auto& [id, index] : submitted) {
      const auto completion = engine->Take(id);
      ASSERT_TRUE(completion.has_value()) << "seed " << seed << ": request " << index << " is stuck";
      ASSERT_TRUE(AnswerBytes(completion->value()) == alone[index]) << "seed " << seed << ": request " << index;
    }
    preemptions += engine->counters().preemptions;
  }
  EXPECT_GT(preemptions, 200u);
}

Completion CancelAfter(engine::Engine& engine, const Request& request, uint32_t steps) {
  const RequestId id =
      SubmitOrStop(engine, request, [](uint32_t, const engine::TokenRecord&, std::string_view) {
        ADD_FAILURE() << "a cancelled search has no answer to stream";
      });
  for (uint32_t i = 0; i < steps; ++i) EXPECT_TRUE(engine.Step());
  engine.Cancel(id);
  EXPECT_FALSE(engine.Step());
  return TakeOrStop(engine, id);
}

TEST(BeamBits, cancelled_at_any_step_it_gives_the_beams_of_that_step) {
  const SharedWeights weights = PackTiny({"gemma3", false});
  const Request request = BeamRequest(3, 10, 2, 12);
  const auto engine = MakeEngine(weights, AloneOptions());
  const Request other = GreedyRequest(RandomPrompt(9, 7), 5);
  const std::string other_alone = AnswerBytes(RunAlone(weights, other, Reduction::kLaw));
  size_t tokens_seen = 0;
  // One prompt token a step; the last of them gives the first token of every beam.
  for (uint32_t steps = 0; steps < 10 + 11; ++steps) {
    const Completion cancelled = CancelAfter(*engine, request, steps);
    const uint32_t tokens = steps < 10 ? 0 : steps - 9;
    ASSERT_EQ(cancelled.choices.size(), tokens == 0 ? 1u : 3u) << steps;
    for (const engine::Choice& choice : cancelled.choices) {
      EXPECT_EQ(choice.finish_reason, engine::FinishReason::kCancelled);
      EXPECT_EQ(choice.tokens.size(), tokens) << steps;
    }
    tokens_seen += tokens;
    if (tokens > 0) {
      Request shorter = request;
      shorter.tokens_max = tokens;
      const Completion whole = RunAlone(weights, shorter, Reduction::kLaw);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(IdsOf(cancelled.choices[i]), IdsOf(whole.choices[i])) << steps;
        EXPECT_EQ(cancelled.choices[i].cumulative_logprob, whole.choices[i].cumulative_logprob);
        EXPECT_EQ(cancelled.choices[i].logits_digest, whole.choices[i].logits_digest);
      }
    }
    EXPECT_EQ(AnswerBytes(RunTogether(*engine, {other})[0]), other_alone) << "the next request, after " << steps;
  }
  EXPECT_GT(tokens_seen, 60u);
}

TEST(BeamBits, cancelled_it_gives_whole_answers_first_and_calls_none_of_them_its_result) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  Request request = BeamRequest(4, 18, 0, 12);
  const TokenId stop = RunAlone(weights, request, Reduction::kLaw).choices[0].tokens[0].id;
  request.stop_ids = {stop};
  const auto engine = MakeEngine(weights, AloneOptions());
  // After the prompt the best first token ends an answer; three steps later the other beams are four tokens long.
  const Completion cancelled = CancelAfter(*engine, request, 18 + 3);
  ASSERT_EQ(cancelled.choices.size(), 4u);
  EXPECT_EQ(IdsOf(cancelled.choices[0]), std::vector<TokenId>{stop});
  bool open = false;
  for (const engine::Choice& choice : cancelled.choices) {
    EXPECT_EQ(choice.finish_reason, engine::FinishReason::kCancelled);
    const bool ended = choice.tokens.back().id == stop;
    EXPECT_FALSE(open && ended) << "a whole answer behind one that was cut off";
    open |= !ended;
    EXPECT_TRUE(ended || choice.tokens.size() == 4);
  }
  EXPECT_TRUE(open);
}

TEST(BeamBits, beams_that_may_never_fit_side_by_side_are_refused) {
  const SharedWeights weights = PackTiny({"llama-untied", false});
  EngineOptions options = TogetherOptions();
  options.cache_bytes = BytesOfPages(*weights, options, 7);
  const auto engine = MakeEngine(weights, options);
  // 4 beams of 17 tokens are 68 tokens, and 7 pages hold 112; but each beam takes two whole pages.
  const auto refused = engine->Submit(BeamRequest(4, 10, 1, 7));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kCapacity);
}

}  // namespace
}  // namespace samebit::test
