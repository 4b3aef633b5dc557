// A text's vector has the same bits alone, in any batch, in any order, with any number of threads, on every instruction
// set, by an encoder and by a decoder. The control at the end shows that the comparison can fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/engine.h"
#include "support/edited_model.h"
#include "support/encoders.h"
#include "support/expected_data.h"
#include "support/tiny_models.h"

namespace samebit::test {
namespace {

using engine::EmbedRequest;
using engine::EngineOptions;

EngineOptions Options(kernels::Isa isa = kernels::BestIsa(), uint32_t threads = 1) {
  EngineOptions options;
  options.isa = isa;
  options.threads = threads;
  options.cache_bytes = 16 << 20;
  return options;
}

// Every length around a page, a unit of queries and a split; every pooling that the model has.
std::vector<EmbedRequest> Requests(const engine::Weights& weights, bool normalize) {
  const bool is_encoder = weights.config.kind == model::ModelKind::kEncoder;
  std::vector<EmbedRequest> requests;
  for (const uint32_t length : {1u, 2u, 15u, 16u, 17u, 33u, 47u, 48u, 49u, 63u, 64u, 65u, 129u, 200u}) {
    EmbedRequest request;
    for (uint32_t i = 0; i < length; ++i)
      request.tokens.push_back(static_cast<TokenId>((i * 7919u + length * 31u) % weights.config.vocabulary));
    request.normalize = normalize;
    for (const Pooling pooling : {Pooling::kMean, Pooling::kFirst, Pooling::kLast}) {
      if (pooling == Pooling::kFirst && !is_encoder) continue;
      request.pooling = pooling;
      requests.push_back(request);
    }
  }
  return requests;
}

class Bits : public testing::TestWithParam<const char*> {
 protected:
  Bits()
      : weights_(GetParam() == std::string("bert-tiny") ? ValueOrStop(engine::PackWeights(*OpenTinyBert(), 1))
                                                        : PackTiny({GetParam(), false})),
        requests_(Requests(*weights_, true)) {
    for (const EmbedRequest& request : requests_) alone_.push_back(Vectors(weights_, Options(), {request})[0]);
  }

  void ExpectSame(const EngineOptions& options, const std::string& what) {
    EXPECT_EQ(Vectors(weights_, options, requests_), alone_) << what;
  }

  const std::shared_ptr<const engine::Weights> weights_;
  const std::vector<EmbedRequest> requests_;
  std::vector<std::vector<float>> alone_;
};

TEST_P(Bits, alone_and_in_one_batch_on_every_instruction_set_with_every_number_of_threads) {
  for (const kernels::Isa isa : kernels::AvailableIsas())
    for (const uint32_t threads : {1u, 2u, 5u}) ExpectSame(Options(isa, threads), kernels::IsaName(isa));
}

TEST_P(Bits, any_step_size_page_size_and_parallel_size) {
  EngineOptions options = Options();
  for (const uint32_t rows : {1u, 7u, 64u, 1000u}) {
    options.step_rows_max = rows;
    ExpectSame(options, std::to_string(rows) + " rows");
  }
  options.page_tokens = 16;
  ExpectSame(options, "small pages");
  options.tensor_parallel = 2;
  ExpectSame(options, "two ranks");
}

TEST_P(Bits, any_order_and_submissions_between_steps) {
  std::vector<size_t> order(requests_.size());
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < 5; ++round) {
    for (size_t i = 0; i < order.size(); ++i) std::swap(order[i], order[(i * 7 + round * 5 + 3) % order.size()]);
    const auto embedder = ValueOrStop(engine::Embedder::Make(weights_, Options()));
    std::vector<engine::EmbedId> ids(requests_.size());
    for (const size_t i : order) {
      ids[i] = ValueOrStop(embedder->Submit(requests_[i]));
      if (i % 3 == 0) embedder->Step();
    }
    while (embedder->Step()) {
    }
    for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ValueOrStop(*embedder->Take(ids[i])), alone_[i]) << i;
  }
}

TEST_P(Bits, a_cancelled_neighbour_does_not_show_and_gives_nothing) {
  const auto embedder = ValueOrStop(engine::Embedder::Make(weights_, Options()));
  const engine::EmbedId first = ValueOrStop(embedder->Submit(requests_.back()));
  const engine::EmbedId second = ValueOrStop(embedder->Submit(requests_[4]));
  const engine::EmbedId third = ValueOrStop(embedder->Submit(requests_.back()));
  embedder->Cancel(first);
  while (embedder->Step()) {
  }
  EXPECT_FALSE(embedder->Take(first).has_value());
  EXPECT_EQ(ValueOrStop(*embedder->Take(second)), alone_[4]);
  EXPECT_EQ(ValueOrStop(*embedder->Take(third)), alone_.back());
  EXPECT_FALSE(embedder->Take(third).has_value()) << "it was taken";
}

TEST_P(Bits, the_order_dependent_arm_differs) {
  EngineOptions options = Options(kernels::BestIsa(), 3);
  options.reduction = engine::Reduction::kControl;
  EXPECT_NE(Vectors(weights_, options, requests_), alone_);
}

TEST_P(Bits, normalised_vectors_have_length_one_and_the_direction_of_the_others) {
  const auto plain = Vectors(weights_, Options(), Requests(*weights_, false));
  for (size_t i = 0; i < plain.size(); ++i) {
    double squares = 0, plain_squares = 0, product = 0;
    for (size_t d = 0; d < plain[i].size(); ++d) {
      squares += double{alone_[i][d]} * alone_[i][d];
      plain_squares += double{plain[i][d]} * plain[i][d];
      product += double{alone_[i][d]} * plain[i][d];
    }
    EXPECT_NEAR(squares, 1, 1e-6);
    EXPECT_NEAR(product / std::sqrt(plain_squares), 1, 1e-6);
    EXPECT_GT(std::fabs(plain_squares - 1), 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(models, Bits, testing::Values("bert-tiny", "llama-tied", "llama-q4_1", "gemma3"),
                         [](const testing::TestParamInfo<const char*>& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Embedder, refuses_what_has_no_vector) {
  const auto encoder =
      ValueOrStop(engine::Embedder::Make(ValueOrStop(engine::PackWeights(*OpenTinyBert(), 1)), Options()));
  const auto refusal = [](engine::Embedder& embedder, EmbedRequest request) {
    const auto id = embedder.Submit(std::move(request));
    return id.ok() ? Error{ErrorCode::kIo, "taken"} : id.error();
  };
  EXPECT_EQ(encoder->tokens_max(), 300u) << "the checkpoint's own limit, under its 320 positions";
  EXPECT_EQ(refusal(*encoder, {}).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(*encoder, {{-1}}).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(*encoder, {{9999}}).code, ErrorCode::kInvalidArgument);
  const Error too_long = refusal(*encoder, {std::vector<TokenId>(301, 7)});
  EXPECT_EQ(too_long.code, ErrorCode::kContextOverflow);
  EXPECT_NE(too_long.message.find("at most 300"), std::string::npos) << too_long.message;
  EXPECT_TRUE(encoder->Submit({std::vector<TokenId>(300, 7)}).ok());

  const auto decoder = ValueOrStop(engine::Embedder::Make(PackTiny({"llama-tied", false}), Options()));
  const Error first = refusal(*decoder, {{5}, Pooling::kFirst});
  EXPECT_EQ(first.code, ErrorCode::kInvalidArgument);
  EXPECT_NE(first.message.find("'mean' or 'last'"), std::string::npos) << first.message;
}

TEST(Embedder, a_budget_of_one_page_still_serves_texts_that_fit_it) {
  EngineOptions options = Options();
  options.page_tokens = 16;
  const auto weights = PackTiny({"llama-tied", false});
  const auto wanted = Vectors(weights, Options(), {{{5, 6, 7}}, {{8, 9}}, {std::vector<TokenId>(16, 4)}});
  options.cache_bytes = 2 * 2 * 2 * 16 * 16 * 2;  // layers, heads, keys and values, tokens, head size, f16
  const auto embedder = ValueOrStop(engine::Embedder::Make(weights, options));
  EXPECT_EQ(embedder->tokens_max(), 16u);
  EXPECT_EQ(ValueOrStop(engine::Embed(*embedder, {{{5, 6, 7}}, {{8, 9}}, {std::vector<TokenId>(16, 4)}})), wanted);
  options.cache_bytes -= 1;
  const auto none = engine::Embedder::Make(weights, options);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kCapacity);
}

TEST(Embedder, a_text_that_leaves_the_finite_numbers_fails_alone) {
  EditedModel edited(OpenTinyBert());
  const uint32_t width = edited.config().width;
  // Token 9 is so large that its squares overflow.
  std::fill_n(edited.EditTensor(model::Role::kEmbedding, 0).begin() + 9 * width, width, 0.0f);
  edited.EditTensor(model::Role::kEmbedding, 0)[9 * width] = 3e38f;
  const auto weights = ValueOrStop(engine::PackWeights(edited, 1));
  const auto embedder = ValueOrStop(engine::Embedder::Make(weights, Options()));
  const engine::EmbedId good = ValueOrStop(embedder->Submit({{5, 6, 7}})), bad = ValueOrStop(embedder->Submit({{5, 9}})),
                        after = ValueOrStop(embedder->Submit({{5, 6, 7}}));
  while (embedder->Step()) {
  }
  const auto failed = embedder->Take(bad);
  ASSERT_TRUE(failed.has_value());
  ASSERT_FALSE(failed->ok());
  EXPECT_EQ(failed->error().code, ErrorCode::kNumeric);
  const auto vector = ValueOrStop(*embedder->Take(good));
  EXPECT_EQ(vector, ValueOrStop(*embedder->Take(after)));
  EXPECT_EQ(vector, Vectors(ValueOrStop(engine::PackWeights(*OpenTinyBert(), 1)), Options(), {{{5, 6, 7}}})[0]);
}

TEST(Embedder, an_encoder_does_not_generate) {
  const auto engine = engine::Engine::Make(ValueOrStop(engine::PackWeights(*OpenTinyBert(), 1)), nullptr, Options());
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace samebit::test
