// Any bytes as a JSON schema: refused with a code of the list, or a grammar whose first mask can be computed.
#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz/seeded_mutator.h"
#include "text/grammar.h"
#include "text/tokenizer_test_specs.h"

namespace {

using namespace samebit;

constexpr const char* kSeed =
    R"({"type":"object","properties":{"a":{"type":["integer","null"],"minimum":-3,"multipleOf":2},"b":{"enum":["x",1,[2]]},)"
    R"("c":{"type":"array","items":{"$ref":"#/$defs/n"},"minItems":1,"maxItems":3},"d":{"type":"string","pattern":"^a+[b-d]{2,5}$",)"
    R"("format":"date"}},"required":["a"],"patternProperties":{"^x":{"const":{"y":1}}},"additionalProperties":false,)"
    R"("oneOf":[{"minProperties":1},{"not":{}}],"$defs":{"n":{"anyOf":[true,{"allOf":[{"maxLength":9}]}]}}})";

const text::GrammarCompiler& Compiler() {
  static const auto compiler = [] {
    const auto tokenizer = std::move(text::MakeTokenizer(text::ByteLevelSpec("gpt-2", {}))).value();
    return std::move(text::MakeGrammarCompiler(*tokenizer)).value();
  }();
  return *compiler;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max, unsigned) {
  return samebit::test::MutateFromSeed(kSeed, data, size, size_max);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const bool validates : {false, true}) {
    text::SchemaError why;
    const auto grammar =
        Compiler().Compile({"", {std::string(reinterpret_cast<const char*>(data), size)}, validates}, why);
    if (grammar == nullptr) {
      if (why.error.code == ErrorCode::kInternal) std::abort();
      continue;
    }
    const auto state = std::move(grammar->Start()).value();
    std::vector<uint32_t> words(8);
    const auto mask = state->Mask(words);
    if (!mask.ok() && mask.error().code == ErrorCode::kInternal) std::abort();
    if (!grammar->Complaint("{\"a\":1}").ok()) std::abort();
  }
  return 0;
}
