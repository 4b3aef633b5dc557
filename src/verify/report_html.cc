// One page, no script, nothing from elsewhere: it can be mailed, archived and read in twenty years.
#include <cstdio>

#include "verify/html_charts.h"
#include "verify/report_writers.h"
#include "verify/markup_text.h"

namespace samebit::verify {
namespace {

constexpr const char* kStyle =
#include "verify/report_style.inc"
    ;

const char* VerdictClass(Verdict verdict) {
  return verdict == Verdict::kExact ? "exact" : verdict == Verdict::kDivergent ? "divergent" : "unmeasured";
}

const char* VerdictWord(Verdict verdict) {
  return verdict == Verdict::kExact ? "exact" : verdict == Verdict::kDivergent ? "divergent" : "not measured";
}

std::string Tile(const std::string& number, const std::string& label) {
  return "<div class=\"tile\"><b>" + MarkupText(number) + "</b><span>" + MarkupText(label) + "</span></div>\n";
}

std::string Section(const std::string& title, const std::string& lead, const std::string& body) {
  return "<section>\n<h2>" + MarkupText(title) + "</h2>\n<p class=\"soft\">" + MarkupText(lead) + "</p>\n" + body +
         "</section>\n";
}

std::string Optional(const std::optional<uint32_t>& number) { return number ? std::to_string(*number) : "–"; }

std::string OptionalFloat(const std::optional<float>& number) {
  if (!number) return "–";
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", double{*number});
  return text;
}

std::string CellRow(const CellReport& cell, const std::string& axis) {
  std::string reason = cell.not_measured_reason;
  if (cell.drift) reason = std::string(DriftName(*cell.drift)) + ": " + cell.drift_reason;
  std::string differs;
  for (const std::string& name : cell.differs) differs += (differs.empty() ? "" : ", ") + name;
  std::string out = std::string("<tr") + (axis.empty() ? "" : " class=\"new\"") + "><td>" + MarkupText(axis) +
                    "</td><td>" + MarkupText(cell.value) + "</td><td class=\"n\">" +
                    std::to_string(cell.samples.size()) + "</td><td class=\"n\">" + std::to_string(cell.exact_count()) +
                    "</td><td class=\"n\">" + std::to_string(cell.logprobs_equal_count()) + "</td><td class=\"n\">" +
                    Optional(cell.first_divergence()) + "</td><td><span class=\"pill " + VerdictClass(cell.verdict) +
                    "\">" + VerdictWord(cell.verdict) + "</span></td><td>" + MarkupText(cell.evidence);
  if (!reason.empty()) out += "<small>" + MarkupText(reason) + "</small>";
  return out + "<small>differs from the base in: " + MarkupText(differs.empty() ? "nothing" : differs) +
         "</small></td></tr>\n";
}

std::string CellTable(const ReplayReport& report) {
  std::string out =
      "<div class=\"scroll\"><table>\n<thead><tr><th>axis</th><th>value</th><th class=\"n\">samples</th>"
      "<th class=\"n\">exact</th><th class=\"n\">equal log-probs</th><th class=\"n\">first</th>"
      "<th>verdict</th><th>evidence</th></tr></thead>\n<tbody>\n";
  const CellReport* previous = nullptr;
  for (const CellReport& cell : report.cells) {
    out += CellRow(cell, previous == nullptr || previous->axis != cell.axis ? AxisTitle(cell.axis) : "");
    previous = &cell;
  }
  return out + "</tbody></table></div>\n";
}

// Samples that are not exact, one row each; the page stays readable when everything diverges.
std::string SampleTable(const ReplayReport& report) {
  constexpr size_t kRowsMax = 500;
  size_t rows = 0, left_out = 0;
  std::string out;
  for (const CellReport& cell : report.cells)
    for (const SampleReport& sample : cell.samples) {
      if (sample.exact()) continue;
      if (++rows > kRowsMax) {
        ++left_out;
        continue;
      }
      const auto shared = [](const std::optional<uint32_t>& count) {
        return count ? std::to_string(*count) + "/5" : "–";
      };
      out += "<tr><td>" + MarkupText(std::string(AxisName(cell.axis)) + " " + cell.value) + "</td><td>" +
             MarkupText(sample.prompt_id) + "</td><td>" + SamplingKindName(sample.sampling) + "</td><td class=\"n\">" +
             std::to_string(sample.sample_index) + "</td><td class=\"n\">" + Optional(sample.first_token_divergence) +
             "</td><td class=\"n\">" + Optional(sample.first_bit_divergence) + "</td><td class=\"n\">" +
             shared(sample.top_shared_before) + "</td><td class=\"n\">" + shared(sample.top_shared_at) +
             "</td><td class=\"n\">" + OptionalFloat(sample.margin_base) + "</td><td class=\"n\">" +
             OptionalFloat(sample.margin_found) + "</td><td>" + MarkupText(sample.error) + "</td></tr>\n";
    }
  if (rows == 0) return "";
  return "<details><summary>Samples that differ (" + std::to_string(rows) +
         ")</summary>\n<div class=\"scroll\"><table>\n"
         "<thead><tr><th>cell</th><th>prompt</th><th>sampling</th><th class=\"n\">sample</th><th class=\"n\">first "
         "token</th>"
         "<th class=\"n\">first bits</th><th class=\"n\">top 5 before</th><th class=\"n\">top 5 at</th>"
         "<th class=\"n\">margin, base</th><th class=\"n\">margin, found</th><th>error</th></tr></thead>\n<tbody>\n" +
         out + "</tbody></table></div>\n" +
         (left_out > 0 ? "<p class=\"soft\">" + std::to_string(left_out) + " more stand in the JSON report.</p>\n"
                       : "") +
         "</details>\n";
}

std::string RemoteFacts(const ReplayReport& report) {
  std::string out;
  const auto fact = [&](const char* name, const std::string& value) {
    out += std::string("<dt>") + name + "</dt><dd>" + MarkupText(value) + "</dd>\n";
  };
  const RemoteReport& remote = *report.remote;
  fact("server", remote.url + " (" + remote.server + "), " + remote.endpoint);
  fact("model", report.model_name);
  fact("system_fingerprint", remote.fingerprint.empty() ? "none" : remote.fingerprint);
  fact("tokens told apart by", remote.identity_source);
  fact("log-probabilities", remote.logprobs_compared ? "compared bit for bit" : "not compared");
  for (const std::string& note : remote.notes) fact("note", note);
  fact("prompts", std::to_string(report.prompt_count) + ", " + report.prompt_set);
  fact("SHA-256 of the prompts", report.prompt_set_sha256);
  fact("seed", std::to_string(report.seed));
  return out;
}

std::string Facts(const ReplayReport& report) {
  std::string out = "<dl>\n";
  const auto fact = [&](const char* name, const std::string& value) {
    out += std::string("<dt>") + name + "</dt><dd>" + MarkupText(value) + "</dd>\n";
  };
  const auto digest = [&](const std::string& name, const std::string& value) {
    out += "<dt>" + MarkupText(name) + "</dt><dd><code>" + MarkupText(value) + "</code></dd>\n";
  };
  const engine::EngineOptions& base = report.base_options;
  fact("program", "samebit " + report.version);
  fact("began", report.started_utc);
  if (report.remote) return out + RemoteFacts(report) + "</dl>\n";
  fact("machine", report.machine + ", " + std::to_string(report.cores) + " cores");
  fact("model", report.model_name + " (" + report.model_family + "), " + report.model_path);
  for (const model::FileDigest& file : report.model_files) digest("SHA-256 of " + file.path, file.sha256.hex());
  fact("prompts", std::to_string(report.prompt_count) + ", " + report.prompt_set);
  digest("SHA-256 of the prompts", report.prompt_set_sha256);
  fact("seed", std::to_string(report.seed));
  fact("base cell", std::string("one request alone, token by token; ") + kernels::IsaName(base.isa) + ", " +
                        std::to_string(base.threads) + " threads, KV cache " +
                        (base.cache_type == kernels::CacheType::kF16 ? "f16" : "f32") + " in pages of " +
                        std::to_string(base.page_tokens) + " tokens, context " + std::to_string(base.context_max) +
                        ", reduction " + (base.reduction == engine::Reduction::kLaw ? "by the law" : "control arm"));
  for (const BaseReport& answer : report.bases)
    if (answer.prefill_chunk > 1)
      fact("base of a long prompt", answer.prompt_id + ", " + std::to_string(answer.prompt_tokens) +
                                        " tokens: alone, in chunks of " + std::to_string(answer.prefill_chunk));
  return out + "</dl>\n";
}

}  // namespace

std::string ReportHtml(const ReplayReport& report) {
  const int code = ExitCode(report);
  const Verdict overall = code == 0 ? Verdict::kExact : code == 1 ? Verdict::kDivergent : Verdict::kNotMeasured;
  const std::string title =
      std::string("samebit replay") + (report.control ? " --control" : "") + ": " + report.model_name;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.0f s", report.seconds);
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>" +
      MarkupText(title) + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n<main>\n<h1>" + MarkupText(title) +
      "</h1>\n<p class=\"soft\">" +
      MarkupText("Does the same request give the same bits, whatever the server does? The " + report.plan +
                 " matrix on " + (report.remote ? report.remote->url : report.machine) + ", " + report.started_utc) +
      "</p>\n<div class=\"verdict " + VerdictClass(overall) + "\">" + MarkupText(VerdictSentence(report)) +
      "</div>\n<div class=\"tiles\">\n";
  out += Tile(std::to_string(report.count(Verdict::kExact)), "cells exact");
  out += Tile(std::to_string(report.count(Verdict::kDivergent)), "cells divergent");
  out += Tile(std::to_string(report.count(Verdict::kNotMeasured)), "cells not measured");
  out += Tile(std::to_string(report.sample_count()), "samples compared");
  out += Tile(std::to_string(report.bases.size()), "base answers");
  out += Tile(seconds, "in all");
  out += "</div>\n";
  out += Section("Heat map",
                 report.remote ? "Each field is a cell: how many of its samples are equal to the base in all that is "
                                 "compared. The base is one request alone."
                               : "Each field is a cell: how many of its samples have the tokens, the log-probabilities "
                                 "and the logits of the base, bit for bit. The base is one request alone, token by token.",
                 HeatMapHtml(report));
  out += Section("Where answers part", "For each axis, the first position at which a sample leaves its base answer.",
                 DivergencePlotHtml(report));
  out += Section("Margins",
                 "A changed last bit changes a token only where two logits are close. Bars: all positions of the "
                 "base answers. Marks below the line: where samples first differed.",
                 MarginHistogramHtml(report));
  out += Section("Cells", "What was measured, and what showed that the axis was really exercised.",
                 CellTable(report) + SampleTable(report));
  out += Section("What was run", "Everything that is needed to run it again.", Facts(report));
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace samebit::verify
