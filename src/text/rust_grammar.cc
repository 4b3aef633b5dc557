// MakeGrammarCompiler: llguidance behind the interface of grammar.h, within the bounds of base/limits.h.
#include <mutex>

#include "base/limits.h"
#include "text/grammar.h"
#include "text/rust/samebit_grammar.h"
#include "text/rust_boundary.h"

namespace samebit::text {
namespace {

struct Free {
  void operator()(SamebitGrammarFactory* factory) const { samebit_grammar_factory_free(factory); }
  void operator()(SamebitGrammar* grammar) const { samebit_grammar_free(grammar); }
  void operator()(SamebitGrammarState* state) const { samebit_grammar_state_free(state); }
};
using FactoryHandle = std::unique_ptr<SamebitGrammarFactory, Free>;
using GrammarHandle = std::unique_ptr<SamebitGrammar, Free>;
using StateHandle = std::unique_ptr<SamebitGrammarState, Free>;

class RustGrammarState final : public GrammarState {
 public:
  explicit RustGrammarState(StateHandle handle) : handle_(std::move(handle)) {}

  Result<bool> Mask(std::span<uint32_t> words) override {
    uint32_t may_end = 0;
    SamebitString message{};
    const auto code = samebit_grammar_state_mask(handle_.get(), words.data(), words.size(), &may_end, &message);
    if (code != SAMEBIT_TEXT_OK) return TakeError(code, message);
    return may_end != 0;
  }

  Result<bool> Commit(TokenId id) override {
    uint32_t complete = 0;
    SamebitString message{};
    const auto code =
        samebit_grammar_state_commit(handle_.get(), static_cast<uint32_t>(id), &complete, &message);
    if (code != SAMEBIT_TEXT_OK) return TakeError(code, message);
    return complete != 0;
  }

  Result<std::unique_ptr<GrammarState>> Copy() const override {
    SamebitGrammarState* made = nullptr;
    SamebitString message{};
    const auto code = samebit_grammar_state_copy(handle_.get(), &made, &message);
    if (code != SAMEBIT_TEXT_OK) return TakeError(code, message);
    return std::unique_ptr<GrammarState>(std::make_unique<RustGrammarState>(StateHandle(made)));
  }

 private:
  StateHandle handle_;
};

class RustGrammar final : public Grammar {
 public:
  explicit RustGrammar(GrammarHandle handle) : handle_(std::move(handle)) {}

  Result<std::unique_ptr<GrammarState>> Start() const override {
    SamebitGrammarState* made = nullptr;
    SamebitString message{};
    const auto code = samebit_grammar_start(handle_.get(), &made, &message);
    if (code != SAMEBIT_TEXT_OK) return TakeError(code, message);
    return std::unique_ptr<GrammarState>(std::make_unique<RustGrammarState>(StateHandle(made)));
  }

  Result<std::string> Complaint(std::string_view answer) const override {
    SamebitString complaint{}, message{};
    const auto code = samebit_grammar_complaint(handle_.get(), Slice(answer), &complaint, &message);
    if (code != SAMEBIT_TEXT_OK) return TakeError(code, message);
    return TakeString(complaint);
  }

 private:
  GrammarHandle handle_;
};

// "/properties/a~1b/0" -> ".properties.a/b.0"
std::string DottedPlace(std::string_view pointer) {
  std::string place;
  for (size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      place += '.';
    } else if (pointer[i] == '~' && i + 1 < pointer.size()) {
      place += pointer[++i] == '1' ? '/' : '~';
    } else {
      place += pointer[i];
    }
  }
  return place;
}

// Takes the first line off the message; see samebit_grammar.h.
SchemaError PlacedError(Error error) {
  SchemaError why;
  const size_t line_end = error.message.find('\n');
  if (line_end != std::string::npos) {
    const std::string head = error.message.substr(0, line_end);
    const size_t slash = head.find('/');
    why.schema_index = static_cast<size_t>(std::strtoull(head.c_str(), nullptr, 10));
    if (slash != std::string::npos) why.place = DottedPlace(std::string_view(head).substr(slash));
    error.message.erase(0, line_end + 1);
  }
  why.error = std::move(error);
  return why;
}

class RustGrammarCompiler final : public GrammarCompiler {
 public:
  // bytes of all tokens, and where each ends.
  RustGrammarCompiler(std::string bytes, std::vector<uint32_t> ends) : bytes_(std::move(bytes)), ends_(std::move(ends)) {}

  std::shared_ptr<const Grammar> Compile(const GrammarSource& source, SchemaError& why) const override {
    std::call_once(made_, [this] { MakeFactory(); });
    if (handle_ == nullptr) {
      why = {failure_, 0, ""};
      return nullptr;
    }
    std::vector<SamebitSlice> schemas;
    for (const std::string& schema : source.schemas) {
      if (schema.size() > limits::kSchemaBytesMax) {
        why = {Error{ErrorCode::kTooLarge, "the schema has " + std::to_string(schema.size()) + " bytes, at most " +
                                               std::to_string(limits::kSchemaBytesMax) + " are taken"},
               schemas.size(),
               ""};
        return nullptr;
      }
      schemas.push_back(Slice(schema));
    }
    const SamebitGrammarInput input{.lark = Slice(source.lark),
                                    .schemas = schemas.data(),
                                    .schema_count = schemas.size(),
                                    .validates = source.validates ? 1u : 0u};
    SamebitGrammar* made = nullptr;
    SamebitString message{};
    const auto code = samebit_grammar_make(handle_.get(), &input, &made, &message);
    if (code == SAMEBIT_TEXT_OK) return std::make_shared<RustGrammar>(GrammarHandle(made));
    why = PlacedError(TakeError(code, message));
    return nullptr;
  }

 private:
  void MakeFactory() const {
    const SamebitGrammarLimits bounds{.grammar_items = limits::kGrammarItemsMax,
                                      .build_fuel = limits::kGrammarBuildFuel,
                                      .step_fuel = limits::kGrammarStepFuel,
                                      .step_items = limits::kGrammarStepItemsMax,
                                      .row_items = limits::kGrammarRowItemsMax,
                                      .lexer_states = limits::kGrammarLexerStatesMax};
    SamebitGrammarFactory* made = nullptr;
    SamebitString message{};
    const auto code = samebit_grammar_factory_make(bytes_.data(), ends_.data(), static_cast<uint32_t>(ends_.size()),
                                                   &bounds, &made, &message);
    if (code == SAMEBIT_TEXT_OK)
      handle_.reset(made);
    else
      failure_ = TakeError(code, message);
  }

  const std::string bytes_;
  const std::vector<uint32_t> ends_;
  // By the first use, which is when somebody asks for a form.
  mutable std::once_flag made_;
  mutable FactoryHandle handle_;
  mutable Error failure_;
};

}  // namespace

Result<std::unique_ptr<GrammarCompiler>> MakeGrammarCompiler(const Tokenizer& tokenizer) {
  std::string bytes;
  std::vector<uint32_t> ends;
  for (uint32_t id = 0; id < tokenizer.vocabulary(); ++id) {
    bytes += tokenizer.Bytes(static_cast<TokenId>(id));
    if (bytes.size() > UINT32_MAX) return Error{ErrorCode::kTooLarge, "the vocabulary's bytes are over 4 GiB"};
    ends.push_back(static_cast<uint32_t>(bytes.size()));
  }
  return std::unique_ptr<GrammarCompiler>(std::make_unique<RustGrammarCompiler>(std::move(bytes), std::move(ends)));
}

}  // namespace samebit::text
