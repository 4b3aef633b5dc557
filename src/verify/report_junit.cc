#include <cstdio>

#include "verify/report_writers.h"
#include "verify/markup_text.h"

namespace samebit::verify {
namespace {

std::string Attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + MarkupText(value) + "\"";
}

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds);
  return text;
}

std::string Problem(const CellReport& cell) {
  std::string text;
  for (const SampleReport& sample : cell.samples) {
    if (sample.exact()) continue;
    text += sample.prompt_id + " (" + SamplingKindName(sample.sampling) + ", sample " +
            std::to_string(sample.sample_index) + "): ";
    if (!sample.error.empty())
      text += sample.error;
    else if (sample.first_token_divergence)
      text += "another token at " + std::to_string(*sample.first_token_divergence);
    else if (sample.first_bit_divergence)
      text += "other bits at " + std::to_string(*sample.first_bit_divergence);
    else
      text += "another end";
    text += "\n";
  }
  return text;
}

std::string TestCase(const CellReport& cell) {
  std::string out = "    <testcase" + Attribute("classname", std::string("replay.") + AxisName(cell.axis)) +
                    Attribute("name", cell.value) + Attribute("time", Seconds(cell.seconds));
  if (cell.verdict == Verdict::kExact) return out + "/>\n";
  const bool divergent = cell.verdict == Verdict::kDivergent;
  const std::string kind = cell.drift ? DriftName(*cell.drift) : "divergent";
  const std::string message = divergent
                                  ? std::to_string(cell.exact_count()) + " of " + std::to_string(cell.samples.size()) +
                                        " samples exact; " + cell.drift_reason
                                  : cell.not_measured_reason;
  const char* element = divergent ? "failure" : "error";
  return out + ">\n      <" + element + Attribute("type", divergent ? kind : "not_measured") +
         Attribute("message", message) + ">" + MarkupText(Problem(cell)) + "</" + element + ">\n    </testcase>\n";
}

}  // namespace

std::string ReportJUnit(const ReplayReport& report) {
  const std::string counts = Attribute("tests", std::to_string(report.cells.size())) +
                             Attribute("failures", std::to_string(report.count(Verdict::kDivergent))) +
                             Attribute("errors", std::to_string(report.count(Verdict::kNotMeasured))) +
                             Attribute("time", Seconds(report.seconds));
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + ">\n  <testsuite" +
                    Attribute("name", std::string("samebit replay") + (report.control ? " --control" : "")) + counts +
                    Attribute("timestamp", report.started_utc) + ">\n    <properties>\n";
  const auto property = [&](const char* name, const std::string& value) {
    out += "      <property" + Attribute("name", name) + Attribute("value", value) + "/>\n";
  };
  property("model", report.model_name);
  property("plan", report.plan);
  if (report.remote) {
    property("server", report.remote->url + " (" + report.remote->server + ")");
    property("token_identity", report.remote->identity);
    property("logprobs_compared", report.remote->logprobs_compared ? "true" : "false");
    for (const std::string& note : report.remote->notes) property("note", note);
  } else {
    property("machine", report.machine);
  }
  property("verdict", VerdictSentence(report));
  for (const model::FileDigest& file : report.model_files)
    property("model_sha256", file.path + " " + file.sha256.hex());
  out += "    </properties>\n";
  for (const CellReport& cell : report.cells) out += TestCase(cell);
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace samebit::verify
