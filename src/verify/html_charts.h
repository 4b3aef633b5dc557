// The pictures of the HTML report: HTML and SVG fragments that use the page's CSS classes and variables. Pure.
#pragma once

#include <string>

#include "verify/replay_report.h"

namespace samebit::verify {

// Axis x value; each field says its verdict in words as well as in colour.
std::string HeatMapHtml(const ReplayReport& report);
// Where in the answers the samples of each axis part from the base.
std::string DivergencePlotHtml(const ReplayReport& report);
// How far apart the two largest logits are: over all base positions, and where samples diverged.
std::string MarginHistogramHtml(const ReplayReport& report);

}  // namespace samebit::verify
