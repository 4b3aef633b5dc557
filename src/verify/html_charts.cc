#include "verify/html_charts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "verify/markup_text.h"

namespace samebit::verify {
namespace {

std::string Fixed(double number, int digits = 1) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

std::string Count(size_t number) { return std::to_string(number); }

// The field's class: its verdict, and for divergent cells how much of it diverged.
std::string FieldClass(const CellReport& cell) {
  if (cell.verdict == Verdict::kExact) return "exact";
  if (cell.verdict == Verdict::kNotMeasured) return "unmeasured";
  const double exact_share = cell.samples.empty() ? 0 : double(cell.exact_count()) / double(cell.samples.size());
  return exact_share > 0.66 ? "divergent d1" : exact_share > 0.33 ? "divergent d2" : "divergent d3";
}

std::string FieldWord(const CellReport& cell) {
  if (cell.verdict == Verdict::kNotMeasured) return "not measured";
  return Count(cell.exact_count()) + "/" + Count(cell.samples.size());
}

std::string FieldTitle(const CellReport& cell) {
  std::string title = cell.description + ". " + VerdictName(cell.verdict);
  if (!cell.evidence.empty()) title += "; " + cell.evidence;
  if (!cell.not_measured_reason.empty()) title += "; " + cell.not_measured_reason;
  if (!cell.drift_reason.empty()) title += "; " + cell.drift_reason;
  return title;
}

std::vector<const CellReport*> CellsOf(const ReplayReport& report, Axis axis) {
  std::vector<const CellReport*> cells;
  for (const CellReport& cell : report.cells)
    if (cell.axis == axis) cells.push_back(&cell);
  return cells;
}

// Positions grow fast: 16 and 1024 tokens must both be seen. Square root scale.
class PositionScale {
 public:
  PositionScale(double left, double right, uint32_t largest)
      : left_(left), right_(right), largest_(std::max(16u, largest)) {}
  double operator()(double position) const { return left_ + (right_ - left_) * std::sqrt(position / largest_); }
  std::vector<uint32_t> ticks() const {
    std::vector<uint32_t> ticks;
    for (uint32_t tick : {0u, 4u, 16u, 64u, 128u, 256u, 512u, 1024u, 2048u, 4096u})
      if (tick <= largest_) ticks.push_back(tick);
    return ticks;
  }

 private:
  double left_, right_;
  uint32_t largest_;
};

std::string Text(const char* css, double x, double y, const char* anchor, const std::string& text) {
  return std::string("<text class=\"") + css + "\" x=\"" + Fixed(x) + "\" y=\"" + Fixed(y) + "\" text-anchor=\"" +
         anchor + "\">" + MarkupText(text) + "</text>";
}

}  // namespace

std::string HeatMapHtml(const ReplayReport& report) {
  std::string out = "<div class=\"heat\">\n";
  for (Axis axis : AllAxes()) {
    const std::vector<const CellReport*> cells = CellsOf(report, axis);
    if (cells.empty()) continue;
    out += "<div class=\"heat-axis\">" + MarkupText(AxisTitle(axis)) + "</div><div class=\"heat-row\">\n";
    for (const CellReport* cell : cells)
      out += "<div class=\"field " + FieldClass(*cell) + "\" title=\"" + MarkupText(FieldTitle(*cell)) + "\"><b>" +
             MarkupText(cell->value) + "</b><span>" + FieldWord(*cell) + "</span></div>\n";
    out += "</div>\n";
  }
  return out +
         "</div>\n<p class=\"legend\"><span class=\"key exact\"></span>every sample exact"
         "<span class=\"key divergent d1\"></span>few diverge<span class=\"key divergent d2\"></span>many"
         "<span class=\"key divergent d3\"></span>most<span class=\"key unmeasured\"></span>not measured</p>\n";
}

std::string DivergencePlotHtml(const ReplayReport& report) {
  constexpr double kLeft = 150, kRight = 872, kRowHeight = 26, kTop = 14;
  uint32_t longest = 0;
  std::vector<Axis> axes;
  for (Axis axis : AllAxes())
    if (!CellsOf(report, axis).empty()) axes.push_back(axis);
  for (const CellReport& cell : report.cells)
    for (const SampleReport& sample : cell.samples) longest = std::max(longest, sample.tokens_base);
  const PositionScale x(kLeft, kRight, longest);
  const double bottom = kTop + kRowHeight * double(axes.size());
  std::string out = "<svg class=\"chart\" viewBox=\"0 0 900 " + Fixed(bottom + 40, 0) +
                    "\" role=\"img\" aria-label=\"Position of the first difference, by axis\">\n";
  for (uint32_t tick : x.ticks())
    out += "<line class=\"grid\" x1=\"" + Fixed(x(tick)) + "\" x2=\"" + Fixed(x(tick)) + "\" y1=\"" + Fixed(kTop) +
           "\" y2=\"" + Fixed(bottom) + "\"/>" + Text("tick", x(tick), bottom + 16, "middle", Count(tick)) + "\n";
  for (size_t row = 0; row < axes.size(); ++row) {
    const double y = kTop + kRowHeight * (double(row) + 0.5);
    uint32_t reached = 0;
    std::string marks;
    for (const CellReport* cell : CellsOf(report, axes[row])) {
      if (cell->verdict == Verdict::kNotMeasured) continue;
      for (const SampleReport& sample : cell->samples) {
        const bool token = sample.first_token_divergence.has_value();
        if (sample.exact() || !(token || sample.first_bit_divergence)) {
          reached = std::max(reached, sample.tokens_found);
          continue;
        }
        const uint32_t at = token ? *sample.first_token_divergence : *sample.first_bit_divergence;
        marks += std::string("<circle class=\"") + (token ? "mark" : "mark bits") + "\" cx=\"" + Fixed(x(at)) +
                 "\" cy=\"" + Fixed(y) + "\" r=\"4.5\"><title>" +
                 MarkupText(cell->value + ", " + sample.prompt_id + ": " + (token ? "another token" : "other bits") +
                            " at position " + Count(at)) +
                 "</title></circle>";
      }
    }
    out += Text("label", kLeft - 12, y + 4, "end", AxisTitle(axes[row]));
    out += "<line class=\"rail\" x1=\"" + Fixed(x(0)) + "\" x2=\"" + Fixed(kRight) + "\" y1=\"" + Fixed(y) +
           "\" y2=\"" + Fixed(y) + "\"/>";
    if (reached > 0)
      out += "<line class=\"reach\" x1=\"" + Fixed(x(0)) + "\" x2=\"" + Fixed(x(reached)) + "\" y1=\"" + Fixed(y) +
             "\" y2=\"" + Fixed(y) + "\"><title>exact to position " + Count(reached) + "</title></line>";
    out += marks + "\n";
  }
  out += Text("tick", (kLeft + kRight) / 2, bottom + 34, "middle",
              "position in the answer, in tokens (square root scale)");
  return out +
         "</svg>\n<p class=\"legend\"><span class=\"key reach\"></span>longest exact answer"
         "<span class=\"key dot\"></span>first different token<span class=\"key dot bits\"></span>"
         "same tokens, first different bits</p>\n";
}

std::string MarginHistogramHtml(const ReplayReport& report) {
  // Margins from 1e-4 to 100, eight bins to a factor of ten; what lies outside goes into the outermost bins.
  constexpr int kBinsPerDecade = 8, kDecadeFirst = -4, kDecades = 6, kBins = kBinsPerDecade * kDecades;
  constexpr double kLeft = 52, kRight = 880, kTop = 12, kBottom = 196, kRug = 218;
  const auto bin_of = [](double margin) {
    const double decades = std::log10(std::max(margin, 1e-12)) - kDecadeFirst;
    return std::clamp(static_cast<int>(std::floor(decades * kBinsPerDecade)), 0, kBins - 1);
  };
  std::array<uint32_t, kBins> counts{};
  size_t positions = 0;
  for (const BaseReport& base : report.bases)
    for (float margin : base.margins) {
      ++counts[static_cast<size_t>(bin_of(margin))];
      ++positions;
    }
  const uint32_t highest = std::max(1u, *std::max_element(counts.begin(), counts.end()));
  const double step = (kRight - kLeft) / kBins;
  std::string out =
      "<svg class=\"chart\" viewBox=\"0 0 900 268\" role=\"img\" aria-label=\"Histogram of logit margins\">\n";
  for (int part = 0; part <= 2; ++part) {
    const double y = kBottom - (kBottom - kTop) * part / 2;
    out += "<line class=\"grid\" x1=\"" + Fixed(kLeft) + "\" x2=\"" + Fixed(kRight) + "\" y1=\"" + Fixed(y) +
           "\" y2=\"" + Fixed(y) + "\"/>" +
           Text("tick", kLeft - 8, y + 4, "end", Count(highest * static_cast<uint32_t>(part) / 2)) + "\n";
  }
  for (int bin = 0; bin < kBins; ++bin) {
    const uint32_t count = counts[static_cast<size_t>(bin)];
    if (count == 0) continue;
    const double height = (kBottom - kTop) * count / highest;
    out += "<rect class=\"bar\" x=\"" + Fixed(kLeft + step * bin + 1) + "\" y=\"" + Fixed(kBottom - height) +
           "\" width=\"" + Fixed(step - 2) + "\" height=\"" + Fixed(height) + "\" rx=\"2\"><title>" + Count(count) +
           " positions, margin " + Fixed(std::pow(10, kDecadeFirst + double(bin) / kBinsPerDecade), 4) + " to " +
           Fixed(std::pow(10, kDecadeFirst + double(bin + 1) / kBinsPerDecade), 4) + "</title></rect>\n";
  }
  for (int decade = 0; decade <= kDecades; ++decade) {
    const double x = kLeft + step * kBinsPerDecade * decade;
    static constexpr const char* kNames[] = {"0.0001", "0.001", "0.01", "0.1", "1", "10", "100"};
    out += "<line class=\"grid\" x1=\"" + Fixed(x) + "\" x2=\"" + Fixed(x) + "\" y1=\"" + Fixed(kBottom) + "\" y2=\"" +
           Fixed(kBottom + 6) + "\"/>" + Text("tick", x, kRug + 24, "middle", kNames[decade]) + "\n";
  }
  size_t divergent = 0;
  for (const CellReport& cell : report.cells)
    for (const SampleReport& sample : cell.samples) {
      if (!sample.margin_base) continue;
      ++divergent;
      const double decades =
          std::clamp(std::log10(std::max(double{*sample.margin_base}, 1e-12)) - kDecadeFirst, 0.0, double{kDecades});
      const double x = kLeft + step * kBinsPerDecade * decades;
      out += "<line class=\"rug\" x1=\"" + Fixed(x) + "\" x2=\"" + Fixed(x) + "\" y1=\"" + Fixed(kBottom + 8) +
             "\" y2=\"" + Fixed(kRug + 6) + "\"><title>" +
             MarkupText(std::string(AxisName(cell.axis)) + " " + cell.value + ", " + sample.prompt_id + ": margin " +
                        Fixed(*sample.margin_base, 5)) +
             "</title></line>\n";
    }
  out += Text("tick", (kLeft + kRight) / 2, 260, "middle", "logit margin: largest minus second largest (logarithmic)");
  return out + "</svg>\n<p class=\"legend\"><span class=\"key bar\"></span>" + Count(positions) +
         " positions of base answers<span class=\"key rug\"></span>" + Count(divergent) +
         " first divergences, at the base's margin</p>\n";
}

}  // namespace samebit::verify
