#include <algorithm>
#include <cstdio>

#include "verify/report_writers.h"
#include "base/valid_utf8.h"

namespace samebit::verify {
namespace {

constexpr size_t kLineColumns = 100;
constexpr size_t kEvidenceAt = 72;  // column where the evidence begins

class Painter {
 public:
  explicit Painter(Colours colours) : on_(colours == Colours::kAnsi) {}
  std::string Paint(const char* code, const std::string& text) const {
    return on_ ? std::string("\x1b[") + code + "m" + text + "\x1b[0m" : text;
  }
  std::string Bold(const std::string& text) const { return Paint("1", text); }
  std::string Dim(const std::string& text) const { return Paint("2", text); }
  std::string OfVerdict(Verdict verdict, const std::string& text) const {
    return Paint(verdict == Verdict::kExact ? "32" : verdict == Verdict::kDivergent ? "1;31" : "1;33", text);
  }

 private:
  bool on_;
};

// Characters of a UTF-8 text; close enough to columns for what stands in a report.
size_t Columns(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string Left(const std::string& text, size_t columns) {
  const size_t used = Columns(text);
  return used < columns ? text + std::string(columns - used, ' ') : text;
}

std::string Right(const std::string& text, size_t columns) {
  const size_t used = Columns(text);
  return used < columns ? std::string(columns - used, ' ') + text : text;
}

// Text from a file or a path, with what could steer a terminal taken out.
std::string Printable(const std::string& text) {
  std::string out = ValidUtf8(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

// Lines of at most `columns`, broken at spaces where there are any.
std::vector<std::string> Wrapped(const std::string& text, size_t columns) {
  std::vector<std::string> lines;
  std::string line;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find(' ', begin);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && Columns(line) + 1 + Columns(word) > columns) {
      lines.push_back(line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string Indented(const std::string& text, size_t indent) {
  std::string out;
  for (const std::string& line : Wrapped(text, kLineColumns - indent)) out += std::string(indent, ' ') + line + "\n";
  return out;
}

const char* VerdictWord(Verdict verdict) {
  return verdict == Verdict::kExact ? "exact" : verdict == Verdict::kDivergent ? "DIVERGENT" : "NOT MEASURED";
}

std::string DriftWords(Drift drift) {
  switch (drift) {
    case Drift::kSampling:
      return "sampling";
    case Drift::kRunToRun:
      return "run to run";
    case Drift::kBatchAndSchedule:
      return "batch and schedule";
    case Drift::kEnvironmentAndVersion:
      return "environment and version";
    case Drift::kCannotTell:
      return "cannot tell which kind";
  }
  return "";
}

std::string RemoteHeader(const RemoteReport& remote) {
  std::string out = "server   " + Printable(remote.url) + " (" + Printable(remote.server) + "), " + remote.endpoint +
                    (remote.fingerprint.empty() ? ", no fingerprint" : ", fingerprint " + Printable(remote.fingerprint)) + "\n";
  out += "base     one request alone, asked for the first time\n";
  out += "tokens   told apart by " + Printable(remote.identity_source) + "; log-probabilities " +
         (remote.logprobs_compared ? "compared bit for bit\n" : "not compared\n");
  for (const std::string& note : remote.notes) {
    const std::string lines = Indented("note: " + Printable(note), 9);
    out += lines;
  }
  return out;
}

std::string Header(const ReplayReport& report, const Painter& painter) {
  const engine::EngineOptions& base = report.base_options;
  std::string out = painter.Bold(std::string("samebit replay") + (report.control ? " --control" : "")) + ": " +
                    Printable(report.model_name) + ", " + report.plan + " matrix, " +
                    std::to_string(report.prompt_count) + " prompts (" + Printable(report.prompt_set) + ")\n";
  if (report.remote) return out + RemoteHeader(*report.remote) + "\n";
  out += "machine  " + Printable(report.machine) + ", " + std::to_string(report.cores) + " cores\n";
  out += "base     one request alone, token by token; " + std::string(kernels::IsaName(base.isa)) + ", " +
         std::to_string(base.threads) + (base.threads == 1 ? " thread, " : " threads, ") +
         (base.cache_type == kernels::CacheType::kF16 ? "f16" : "f32") + " KV cache, pages of " +
         std::to_string(base.page_tokens) + "\n";
  for (const BaseReport& answer : report.bases)
    if (answer.prefill_chunk > 1)
      out += "         (prompt " + Printable(answer.prompt_id) + ", " + std::to_string(answer.prompt_tokens) +
             " tokens: its base is alone, in chunks of " + std::to_string(answer.prefill_chunk) + ")\n";
  return out + "\n";
}

std::string HeadLine(const Painter& painter) {
  return painter.Dim(Left("axis", 19) + Left("value", 11) + Right("samples", 7) + Right("exact", 7) + Right("bits", 6) +
                     Right("first", 7) + "  " + Left("verdict", 13) + "evidence") +
         "\n";
}

std::string CellLines(const CellReport& cell, const std::string& axis, const Painter& painter) {
  const std::optional<uint32_t> first = cell.first_divergence();
  std::string line = Left(axis, 19) + Left(Printable(cell.value), 11) + Right(std::to_string(cell.samples.size()), 7) +
                     Right(std::to_string(cell.exact_count()), 7) +
                     Right(std::to_string(cell.logprobs_equal_count()), 6) +
                     Right(first ? std::to_string(*first) : "-", 7) + "  " +
                     painter.OfVerdict(cell.verdict, Left(VerdictWord(cell.verdict), 13));
  const std::vector<std::string> evidence = Wrapped(Printable(cell.evidence), kLineColumns - kEvidenceAt);
  if (!evidence.empty()) line += evidence.front();
  std::string out = line + "\n";
  for (size_t i = 1; i < evidence.size(); ++i) out += std::string(kEvidenceAt, ' ') + evidence[i] + "\n";
  if (cell.verdict == Verdict::kNotMeasured)
    out += Indented("not measured: " + Printable(cell.not_measured_reason), 20);
  if (cell.verdict == Verdict::kDivergent && cell.drift)
    out += Indented(DriftWords(*cell.drift) + ": " + Printable(cell.drift_reason), 20);
  return out;
}

}  // namespace

std::string ReportTable(const ReplayReport& report, Colours colours) {
  const Painter painter(colours);
  std::string out = Header(report, painter) + HeadLine(painter);
  const CellReport* previous = nullptr;
  for (const CellReport& cell : report.cells) {
    const bool new_axis = previous == nullptr || previous->axis != cell.axis;
    out += CellLines(cell, new_axis ? AxisTitle(cell.axis) : "", painter);
    previous = &cell;
  }
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.0f", report.seconds);
  out += report.remote ? "\nexact: samples equal to the base in all that is compared; bits: in the log-probabilities that it\n"
                         "tells; first: position in the answer of the first difference.\n\n"
                       : "\nexact: samples with the tokens, log-probabilities and logits of the base; bits: with its\n"
                         "log-probabilities; first: position in the answer of the first difference.\n\n";
  const int code = ExitCode(report);
  const Verdict overall = code == 0 ? Verdict::kExact : code == 1 ? Verdict::kDivergent : Verdict::kNotMeasured;
  for (const std::string& verdict_line : Wrapped(VerdictSentence(report), kLineColumns))
    out += painter.OfVerdict(overall, verdict_line) + "\n";
  return out +
         painter.Dim(std::to_string(report.count(Verdict::kExact)) + " exact, " +
                     std::to_string(report.count(Verdict::kDivergent)) + " divergent, " +
                     std::to_string(report.count(Verdict::kNotMeasured)) + " not measured; " + seconds + " seconds") +
         "\n";
}

}  // namespace samebit::verify
