#include "cli/examination.h"
#include "base/json_writer.h"
#include "cli/number_text.h"
#include "cli/versions.h"

namespace samebit::cli {
namespace {

std::string Line(std::string label, const std::string& value) {
  label.resize(22, ' ');
  return label + value + "\n";
}

}  // namespace

std::string ExaminationText(const Examination& found) {
  std::string out = Line("processor", found.cpu) + Line("threads", std::to_string(found.threads));
  out += Line("memory", Bytes(found.memory_available_bytes) + " available of " + Bytes(found.memory_total_bytes));
  out += Line("huge pages", found.huge_pages);
  out += Line("float environment", found.float_environment_holds ? "as the law says" : "NOT as the law says");
  out += Line("golden digest", found.golden_digest);
  for (const IsaExamination& one : found.isas) {
    out += Line(std::string("self-test ") + kernels::IsaName(one.isa),
                std::string(one.passed ? "passed  " : "FAILED  ") + one.digest.hex().substr(0, 16) +
                    (one.isa == found.chosen ? "  (chosen)" : ""));
  }
  for (const ModelExamination& model : found.models) {
    out += Line("model", model.name + ", " + model.family + ", " + Bytes(model.file_bytes) + ", context " +
                             std::to_string(model.context));
    if (!model.sha256.empty()) out += Line("model sha256", model.sha256);
    out += Line("chat template", model.chat_template ? "yes" : "no");
  }
  for (const NamedVersion& one : Versions()) out += Line(one.name, one.version);
  for (const std::string& remark : found.remarks) out += Line("note", remark);
  for (const std::string& refusal : found.refusals) out += Line("REFUSES TIER 2", refusal);
  out += found.refusals.empty() ? "\nTier 2 (strict) would be possible here.\n"
                                : "\nTier 2 (strict) would be refused here.\n";
  return out;
}

std::string ExaminationJson(const Examination& found) {
  JsonWriter json;
  json.BeginObject().Key("schema").Text("samebit.doctor/1").Key("tier_2_possible").Bool(found.refusals.empty());
  json.Key("refusals").BeginArray();
  for (const std::string& refusal : found.refusals) json.Text(refusal);
  json.EndArray().Key("remarks").BeginArray();
  for (const std::string& remark : found.remarks) json.Text(remark);
  json.EndArray().Key("cpu").Text(found.cpu).Key("threads").Number(found.threads);
  json.Key("memory_total_bytes").Number(found.memory_total_bytes);
  json.Key("memory_available_bytes").Number(found.memory_available_bytes).Key("huge_pages").Text(found.huge_pages);
  json.Key("float_environment").BeginObject().Key("found").Bool(found.float_environment_found);
  json.Key("holds").Bool(found.float_environment_holds).EndObject();
  json.Key("golden_digest").Text(found.golden_digest).Key("isa_chosen").Text(kernels::IsaName(found.chosen));
  json.Key("isas").BeginArray();
  for (const IsaExamination& one : found.isas) {
    json.BeginObject().Key("isa").Text(kernels::IsaName(one.isa)).Key("passed").Bool(one.passed);
    json.Key("digest").Text(one.digest.hex());
    if (!one.passed) json.Key("failure").Text(one.failure);
    json.EndObject();
  }
  json.EndArray();
  for (const ModelExamination& model : found.models) {
    json.Key("model")
        .BeginObject()
        .Key("path")
        .Text(model.path)
        .Key("name")
        .Text(model.name)
        .Key("family")
        .Text(model.family);
    json.Key("file_bytes").Number(model.file_bytes).Key("context").Number(model.context);
    json.Key("chat_template").Bool(model.chat_template);
    if (!model.sha256.empty()) json.Key("sha256").Text(model.sha256);
    json.EndObject();
  }
  json.Key("versions").BeginObject();
  for (const NamedVersion& one : Versions()) json.Key(one.name).Text(one.version);
  return json.EndObject().EndObject().Finish();
}

}  // namespace samebit::cli
