// Answers in a given form are as reproducible as free ones: scenario 30 in the engine. The tiny models' 270 ids are read
// as bytes here, so what a random model says within a grammar is nonsense of the right form.
#include <gtest/gtest.h>

#include <set>

#include "support/engine_runs.h"
#include "text/grammar.h"
#include "text/tokenizer_test_specs.h"

namespace samebit::test {
namespace {

constexpr TokenId kEnd = 269;

const text::Tokenizer& ByteTokenizer() {
  static const std::unique_ptr<text::Tokenizer> tokenizer = [] {
    TokenizerSpec spec = text::ByteLevelSpec("gpt-2", {});
    while (spec.pieces.size() < 270)
      text::AddPiece(&spec, "<|c" + std::to_string(spec.pieces.size()) + "|>", TokenKind::kControl);
    return std::move(text::MakeTokenizer(spec)).value();
  }();
  return *tokenizer;
}

std::shared_ptr<const text::Grammar> GrammarOf(const std::string& schema) {
  static const std::unique_ptr<text::GrammarCompiler> compiler =
      std::move(text::MakeGrammarCompiler(ByteTokenizer())).value();
  text::SchemaError why;
  auto grammar = compiler->Compile({"", {schema}, false}, why);
  EXPECT_NE(grammar, nullptr) << why.error.message;
  return grammar;
}

constexpr const char* kSchema =
    R"({"type":"object","properties":{"kind":{"enum":["cat","dog","cow"]},"name":{"type":"string","maxLength":12},)"
    R"("tags":{"type":"array","items":{"type":"integer","minimum":-5,"maximum":99},"maxItems":4}},)"
    R"("required":["kind","name","tags"],"additionalProperties":false})";

std::string TextOf(const engine::Choice& choice) {
  std::string text;
  for (const engine::TokenRecord& token : choice.tokens) text += ByteTokenizer().Bytes(token.id);
  return text;
}

Request Formed(Request request, const char* schema = kSchema) {
  request.grammar = GrammarOf(schema);
  request.stop_ids = {kEnd};
  request.logits_digests = true;
  return request;
}

// Six answers of the form, hot and greedy, of several lengths.
std::vector<Request> FormedRequests() {
  std::vector<Request> requests;
  for (uint64_t i = 0; i < 6; ++i) {
    const std::vector<TokenId> prompt = RandomPrompt(10 + 17 * static_cast<uint32_t>(i), 40 + i);
    requests.push_back(Formed(i % 3 == 2 ? GreedyRequest(prompt, 120) : HotRequest(prompt, 120, i)));
    if (i % 2 == 0) requests.push_back(MixedRequests(1, i)[0]);
  }
  return requests;
}

// Whether the grammar takes all of the text, from its beginning to a place where it may end.
bool Fits(const char* schema, std::string_view text) {
  auto state = std::move(GrammarOf(schema)->Start()).value();
  std::vector<uint32_t> words(9);
  for (const char c : text) {
    TokenId id = 0;
    while (ByteTokenizer().Bytes(id) != std::string_view(&c, 1)) ++id;
    if (!state->Mask(words).ok() || (words[id / 32] >> (id % 32) & 1) == 0 || !state->Commit(id).ok()) return false;
  }
  const auto may_end = state->Mask(words);
  return may_end.ok() && *may_end;
}

TEST(GrammarBits, an_answer_of_a_form_next_to_others_is_the_one_alone) {
  for (const TinyModel& model : DeterminismModels()) {
    const SharedWeights weights = PackTiny(model);
    ExpectLawAndNotControl([&](Reduction reduction) {
      const auto engine = MakeEngine(weights, TogetherOptions(reduction));
      const bool equal = EqualAlone(*engine, weights, FormedRequests());
      EXPECT_GE(engine->counters().sequences_in_step_max, 9u);
      return equal;
    });
  }
}

TEST(GrammarBits, chunks_and_preemption_leave_it_as_it_is) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  ExpectLawAndNotControl([&](Reduction reduction) {
    EngineOptions options = TogetherOptions(reduction);
    options.prefill_chunk = 7;
    options.preempt_every_steps = 3;
    options.page_tokens = 16;
    const auto engine = MakeEngine(weights, options);
    const bool equal = EqualAlone(*engine, weights, FormedRequests());
    EXPECT_GT(engine->counters().preemptions, 10u);
    return equal;
  });
}

TEST(GrammarBits, each_of_n_samples_can_be_made_again_alone) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  ExpectLawAndNotControl([&](Reduction reduction) {
    Request five = Formed(HotRequest(RandomPrompt(20, 3), 120, 9));
    five.samples = 5;
    const Completion together = RunTogether(*MakeEngine(weights, TogetherOptions(reduction)), {five})[0];
    bool equal = true;
    std::set<std::string> texts;
    for (uint32_t i = 0; i < 5; ++i) {
      Request one = five;
      one.samples = 1;
      one.first_sample_index = i;
      const Completion alone = RunAlone(weights, one, reduction);
      equal &= ChoiceBytes(alone.choices[0]) == ChoiceBytes(together.choices[i]);
      texts.insert(TextOf(together.choices[i]));
    }
    EXPECT_EQ(texts.size(), 5u);
    return equal;
  });
}

TEST(GrammarBits, an_answer_that_ends_has_the_form_and_one_cut_off_says_so) {
  const SharedWeights weights = PackTiny({"llama-untied", false});
  uint32_t ended = 0, cut = 0;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    Request request = Formed(HotRequest(RandomPrompt(12, seed), seed % 4 == 3 ? 20 : 150, seed));
    if (seed % 2 == 1) {
      request.sampling.repetition_penalty = 1.3f;
      request.sampling.logit_bias = {{5, 3.0f}, {200, -2.0f}};
      request.sampling.frequency_penalty = 0.5f;
    }
    const engine::Choice choice = RunAlone(weights, request, Reduction::kLaw).choices[0];
    if (choice.finish_reason == engine::FinishReason::kStop) {
      EXPECT_TRUE(Fits(kSchema, TextOf(choice))) << TextOf(choice);
      ++ended;
    } else {
      EXPECT_EQ(choice.tokens.size(), request.tokens_max);
      ++cut;
    }
  }
  EXPECT_GE(ended, 8u);
  EXPECT_GE(cut, 6u);
}

TEST(GrammarBits, what_is_reported_are_the_raw_logits) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  Request request = Formed(GreedyRequest(RandomPrompt(12, 5), 1));
  request.top_logprobs = 5;
  Request free = request;
  free.grammar = nullptr;
  const engine::TokenRecord formed = RunAlone(weights, request, Reduction::kLaw).choices[0].tokens[0];
  const engine::TokenRecord other = RunAlone(weights, free, Reduction::kLaw).choices[0].tokens[0];
  EXPECT_EQ(ByteTokenizer().Bytes(formed.id), "{");
  EXPECT_NE(formed.id, other.id) << "the model would have begun so by itself; take another prompt";
  EXPECT_EQ(formed.logits_digest, other.logits_digest);
  EXPECT_EQ(formed.margin, other.margin);
  EXPECT_LT(formed.logprob, other.logprob);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(formed.top[i].id, other.top[i].id);
}

TEST(GrammarBits, the_end_comes_where_the_grammar_allows_it_and_not_before_tokens_min) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  Request request = Formed(GreedyRequest(RandomPrompt(12, 5), 40), R"({"type":"integer"})");
  request.sampling.logit_bias = {{kEnd, 100.0f}};  // it would end at once
  engine::Choice choice = RunAlone(weights, request, Reduction::kLaw).choices[0];
  EXPECT_EQ(choice.tokens.size(), TextOf(choice) == "-" ? 3u : 2u) << TextOf(choice);
  EXPECT_EQ(choice.tokens.back().id, kEnd);
  EXPECT_EQ(choice.finish_reason, engine::FinishReason::kStop);
  request.tokens_min = 9;
  choice = RunAlone(weights, request, Reduction::kLaw).choices[0];
  EXPECT_EQ(choice.tokens.size(), 10u);
  EXPECT_TRUE(Fits(R"({"type":"integer"})", TextOf(choice))) << TextOf(choice);
  // A complete answer has nothing to go on with.
  Request constant = Formed(GreedyRequest(RandomPrompt(12, 5), 40), R"({"const":"ab"})");
  constant.tokens_min = 20;
  choice = RunAlone(weights, constant, Reduction::kLaw).choices[0];
  EXPECT_EQ(TextOf(choice), "\"ab\"");
  EXPECT_EQ(choice.finish_reason, engine::FinishReason::kStop);
}

TEST(GrammarBits, an_answer_that_cannot_go_on_fails_its_own_request_only) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  const auto engine = MakeEngine(weights, TogetherOptions());
  // A vocabulary without the letter x.
  TokenizerSpec spec = text::ByteLevelSpec("gpt-2", {});
  while (spec.pieces.size() < 270) text::AddPiece(&spec, "<|c" + std::to_string(spec.pieces.size()) + "|>", TokenKind::kControl);
  spec.kinds['x'] = TokenKind::kControl;
  const auto tokenizer = std::move(text::MakeTokenizer(spec)).value();
  ASSERT_EQ(tokenizer->Piece('x'), "x");
  const auto compiler = std::move(text::MakeGrammarCompiler(*tokenizer)).value();
  text::SchemaError why;
  Request stuck = Formed(HotRequest(RandomPrompt(12, 5), 40, 1));
  stuck.grammar = compiler->Compile({"", {R"({"const":"box"})"}, false}, why);
  ASSERT_NE(stuck.grammar, nullptr) << why.error.message;
  const Request neighbour = Formed(HotRequest(RandomPrompt(30, 6), 60, 2));
  const RequestId first = SubmitOrStop(*engine, stuck), second = SubmitOrStop(*engine, neighbour);
  while (engine->Step()) {
  }
  auto failed = engine->Take(first);
  ASSERT_TRUE(failed.has_value());
  ASSERT_FALSE(failed->ok()) << TextOf((*failed)->choices[0]);
  EXPECT_EQ(failed->error().code, ErrorCode::kUnsupported) << failed->error().message;
  EXPECT_EQ(AnswerBytes(TakeOrStop(*engine, second)), AnswerBytes(RunAlone(weights, neighbour, Reduction::kLaw)));
}

TEST(GrammarBits, beam_search_is_refused) {
  const SharedWeights weights = PackTiny({"llama-q4_1", false});
  Request beams = Formed(GreedyRequest(RandomPrompt(12, 5), 10));
  beams.beam_width = 2;
  const auto id = MakeEngine(weights, TogetherOptions())->Submit(beams);
  ASSERT_FALSE(id.ok());
  EXPECT_EQ(id.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace samebit::test
