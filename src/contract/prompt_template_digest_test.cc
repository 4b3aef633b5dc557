// Every value of a prompt template is part of its name.
#include "contract/prompt_template_digest.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace samebit::contract {
namespace {

PromptTemplate Sample() {
  PromptTemplate prompt;
  prompt.name = "sort";
  prompt.version = "2";
  prompt.description = "d";
  prompt.system = "s";
  prompt.user = "{{ ticket }}";
  prompt.examples = {{"u", "a", ""}};
  prompt.negative_examples = {{"nu", "na", "nw"}};
  prompt.output = PromptOutput{PromptFormat::kChoice, "one word", {}, {"x", "y"}};
  PromptVariable text, whole, number, flag, choice;
  text.name = "ticket";
  text.length_max = 100;
  whole.name = "whole";
  whole.type = PromptVariableType::kInteger;
  whole.integer_min = 1;
  whole.integer_max = 9;
  number.name = "number";
  number.type = PromptVariableType::kNumber;
  number.number_max = 0.1;
  flag.name = "flag";
  flag.type = PromptVariableType::kBoolean;
  flag.required = false;
  flag.default_value = true;
  choice.name = "choice";
  choice.type = PromptVariableType::kEnum;
  choice.choices = {"a", "b"};
  prompt.variables = {choice, flag, number, text, whole};
  return prompt;
}

TEST(PromptTemplateJson, is_canonical) {
  PromptTemplate prompt = Sample();
  prompt.variables.resize(2);
  EXPECT_EQ(PromptTemplateJson(prompt),
            R"({"description":"d","examples":[{"assistant":"a","user":"u","why":""}],"name":"sort",)"
            R"("negative_examples":[{"assistant":"na","user":"nu","why":"nw"}],)"
            R"("output":{"choices":["x","y"],"format":"choice","instruction":"one word","keys":[]},)"
            R"("schema":"samebit.prompt/1","system":"s","user":"{{ ticket }}","variables":{)"
            R"("choice":{"description":"","required":true,"type":"enum","values":["a","b"]},)"
            R"("flag":{"default":true,"description":"","required":false,"type":"boolean"}},"version":"2"})");
}

TEST(PromptTemplateSha256, moves_with_every_value) {
  const std::vector<std::function<void(PromptTemplate&)>> changes = {
      [](auto&) {},
      [](auto& p) { p.name += "x"; },
      [](auto& p) { p.version = "2.0"; },
      [](auto& p) { p.description += " "; },
      [](auto& p) { p.system += " "; },
      [](auto& p) { p.user += " "; },
      [](auto& p) { p.examples[0].user += "."; },
      [](auto& p) { p.examples[0].assistant += "."; },
      [](auto& p) { p.examples.push_back(p.examples[0]); },
      [](auto& p) { std::swap(p.examples, p.negative_examples); },
      [](auto& p) { p.negative_examples[0].why += "."; },
      [](auto& p) { p.output.reset(); },
      [](auto& p) { p.output->format = PromptFormat::kText; },
      [](auto& p) { p.output->instruction += "."; },
      [](auto& p) { p.output->keys = {"k"}; },
      [](auto& p) { std::swap(p.output->choices[0], p.output->choices[1]); },
      [](auto& p) { p.variables[0].name = "other"; },
      [](auto& p) { p.variables[0].description = "d"; },
      [](auto& p) { p.variables[0].choices[0] = "c"; },
      [](auto& p) { p.variables[1].default_value = false; },
      [](auto& p) { p.variables[2].number_max = 0.2; },
      [](auto& p) { p.variables[2].number_min = -1; },
      [](auto& p) { p.variables[3].length_max = 101; },
      [](auto& p) { p.variables[3].required = false; },
      [](auto& p) { p.variables[3].default_value = "x"; },
      [](auto& p) { p.variables[4].integer_min = 0; },
      [](auto& p) { p.variables[4].integer_max = 10; },
  };
  std::set<std::string> seen;
  for (size_t i = 0; i < changes.size(); ++i) {
    PromptTemplate prompt = Sample();
    changes[i](prompt);
    EXPECT_TRUE(seen.insert(PromptTemplateSha256(prompt)).second) << "change " << i;
  }
}

TEST(PromptTemplateSha256, does_not_depend_on_the_order_of_variables) {
  PromptTemplate prompt = Sample();
  std::swap(prompt.variables[0], prompt.variables[4]);
  EXPECT_EQ(PromptTemplateSha256(prompt), PromptTemplateSha256(Sample()));
}

}  // namespace
}  // namespace samebit::contract
