// Any text as an answer that may call tools: every syntax gives the same events however the text is cut, and no byte of
// text that is no call is lost.
#include <cstdlib>
#include <string>

#include "fuzz/seeded_mutator.h"
#include "text/tools/tool_syntax.h"

namespace {

using namespace samebit::text;
using Events = std::vector<ToolEvent>;

constexpr const char* kSeed =
    "Hm. <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1, \"}\\\"\"]}}\n</tool_call>{\"name\": \"g\", \"parameters\": {}}; "
    "<start_function_call>call:f{a:<escape>x<escape>,b:[1,{c:true}]}<end_function_call>";

void Add(Events& all, const Events& more) {
  for (const ToolEvent& event : more) AddToolEvent(event.kind, event.text, all);
}

Events Parse(const ToolSyntax& syntax, std::string_view text, size_t piece_bytes) {
  const auto parser = syntax.NewParser();
  Events all;
  for (size_t at = 0; at < text.size(); at += piece_bytes) {
    Events events;
    parser->Push(text.substr(at, piece_bytes), events);
    Add(all, events);
  }
  Events events;
  parser->Finish(events);
  Add(all, events);
  return all;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max, unsigned) {
  return samebit::test::MutateFromSeed(kSeed, data, size, size_max);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const ToolSyntax* syntax : {&HermesSyntax(), &Llama3JsonSyntax(), &GemmaSyntax()}) {
    const Events whole = Parse(*syntax, text, text.size() + 1);
    for (const size_t piece : {size_t{1}, size_t{3}, size_t{7}})
      if (Parse(*syntax, text, piece) != whole) std::abort();
    bool called = false;
    std::string content;
    for (const ToolEvent& event : whole) {
      called |= event.kind == ToolEvent::Kind::kCall;
      if (event.kind == ToolEvent::Kind::kArguments && !called) std::abort();
      if (event.kind == ToolEvent::Kind::kText) content += event.text;
    }
    if (!called && content != text) std::abort();
  }
  return 0;
}
