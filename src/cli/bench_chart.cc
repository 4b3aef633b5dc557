// The roofline picture of bench_report.h.
#include <algorithm>
#include <cmath>

#include "cli/bench_report.h"
#include "cli/number_text.h"

namespace samebit::cli {
namespace {

constexpr double kWidth = 900, kHeight = 560, kLeft = 80, kRight = 200, kTop = 50, kBottom = 60;

double Operations(const RowWork& work) { return work.float_operations + work.byte_operations; }

// A logarithmic axis between two powers of ten.
struct Axis {
  double low, high;   // exponents
  double begin, end;  // pixels
  double At(double value) const { return begin + (end - begin) * (std::log10(value) - low) / (high - low); }
};

std::string Tag(const std::string& name, const std::string& attributes, const std::string& content = "") {
  return "<" + name + " " + attributes + (content.empty() ? "/>" : ">" + content + "</" + name + ">") + "\n";
}

std::string Quoted(const std::string& name, double value) { return name + "=\"" + Fixed(value, 1) + "\" "; }

std::string Line(double x1, double y1, double x2, double y2, const std::string& style) {
  return Tag("line", Quoted("x1", x1) + Quoted("y1", y1) + Quoted("x2", x2) + Quoted("y2", y2) + style);
}

std::string Label(double x, double y, const std::string& text, const std::string& style = "") {
  return Tag("text", Quoted("x", x) + Quoted("y", y) + style, text);
}

// The model's name comes from its file.
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Grid(const Axis& x, const Axis& y) {
  const std::string thin = "stroke=\"#ddd\"";
  std::string svg;
  for (double power = x.low; power <= x.high; ++power) {
    const double at = x.At(std::pow(10, power));
    svg += Line(at, y.begin, at, y.end, thin) +
           Label(at, y.begin + 20, Fixed(std::pow(10, power), power < 0 ? 1 : 0), "text-anchor=\"middle\"");
  }
  for (double power = y.low; power <= y.high; ++power) {
    const double at = y.At(std::pow(10, power));
    svg += Line(x.begin, at, x.end, at, thin) +
           Label(x.begin - 8, at + 4, Fixed(std::pow(10, power - 9), power < 9 ? 1 : 0), "text-anchor=\"end\"");
  }
  return svg + Label((x.begin + x.end) / 2, y.begin + 44, "operations per byte read", "text-anchor=\"middle\"") +
         Tag("text",
             "transform=\"translate(22," + Fixed((y.begin + y.end) / 2, 0) + ") rotate(-90)\" text-anchor=\"middle\"",
             "10^9 operations per second");
}

std::string Roof(const Axis& x, const Axis& y, double bytes_per_second, double peak, const std::string& name) {
  const std::string thick = "stroke=\"#333\" stroke-width=\"2\"";
  const double corner = peak / bytes_per_second;
  const double left = std::max(std::pow(10, x.low), std::pow(10, y.low) / bytes_per_second);
  return Line(x.At(left), y.At(left * bytes_per_second), x.At(corner), y.At(peak), thick) +
         Line(x.At(corner), y.At(peak), x.end, y.At(peak), thick) + Label(x.end + 6, y.At(peak) + 4, name);
}

}  // namespace

std::string RooflineAsSvg(const BenchReport& report) {
  const MachineRoof& roof = report.roof;
  double lowest = roof.fma_per_second, sparsest = 1, densest = 10;
  for (const BenchResult& one : report.rows) {
    const double density = Operations(one.work) / one.work.bytes;
    lowest = std::min(lowest, Operations(one.work) / one.figures.seconds_best());
    sparsest = std::min(sparsest, density);
    densest = std::max(densest, density);
  }
  const double peak = std::max(roof.fma_per_second, roof.byte_dot_per_second);
  const Axis x = {std::floor(std::log10(sparsest)), std::ceil(std::log10(densest)), kLeft, kWidth - kRight};
  const Axis y = {std::floor(std::log10(lowest)), std::ceil(std::log10(peak)), kHeight - kBottom, kTop};

  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 560\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n" +
      Tag("rect", "width=\"900\" height=\"560\" fill=\"#fff\"") +
      Label(kLeft, 28, Escaped(MachineLine(report)), "font-size=\"12\"") + Grid(x, y) +
      Roof(x, y, roof.bytes_per_second, roof.fma_per_second, "binary32 fma") +
      Roof(x, y, roof.bytes_per_second, roof.byte_dot_per_second, "byte dot product");
  for (const BenchResult& one : report.rows) {
    const double at_x = x.At(Operations(one.work) / one.work.bytes);
    const double at_y = y.At(Operations(one.work) / one.figures.seconds_best());
    const char* color = one.row.kind == BenchKind::kPrefill ? "#0a58ca" : "#b02a37";
    const std::string share = Fixed(100 * one.roofline_share(), 0) + " %";
    svg += Tag("circle", Quoted("cx", at_x) + Quoted("cy", at_y) + "r=\"5\" fill=\"" + color + "\"",
               "<title>" + one.row.name() + ": " + share + " of its roof</title>") +
           Label(at_x + 9, at_y + 4, one.row.name() + ", " + share, "font-size=\"11\"");
  }
  return svg + "</svg>\n";
}

}  // namespace samebit::cli
