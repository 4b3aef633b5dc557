#include "cli/flag_table.h"

#include <algorithm>
#include <numeric>

#include "cli/number_text.h"

namespace samebit::cli {

Flag Switch(std::string name, bool* target, bool value_when_given, std::string help) {
  return {.name = std::move(name), .value = "", .help = std::move(help), .set = [=](std::string_view) -> Status {
            *target = value_when_given;
            return {};
          }};
}

Flag Whole(std::string name, std::optional<uint32_t>* target, uint32_t min, uint32_t max, std::string help) {
  return {.name = std::move(name), .value = "N", .help = std::move(help), .set = [=](std::string_view text) -> Status {
            ASSIGN_OR_RETURN(const uint64_t value, ParseWhole(text, min, max));
            *target = static_cast<uint32_t>(value);
            return {};
          }};
}

Flag Whole64(std::string name, std::optional<uint64_t>* target, std::string help) {
  return {.name = std::move(name), .value = "N", .help = std::move(help), .set = [=](std::string_view text) -> Status {
            ASSIGN_OR_RETURN(*target, ParseWhole(text, 0, UINT64_MAX));
            return {};
          }};
}

Flag Number(std::string name, std::optional<float>* target, float min, float max, std::string help) {
  return {.name = std::move(name), .value = "X", .help = std::move(help), .set = [=](std::string_view text) -> Status {
            ASSIGN_OR_RETURN(*target, ParseDecimal(text, min, max));
            return {};
          }};
}

Flag Text(std::string name, std::string value, std::optional<std::string>* target, std::string help) {
  return {.name = std::move(name),
          .value = std::move(value),
          .help = std::move(help),
          .set = [=](std::string_view text) -> Status {
            *target = std::string(text);
            return {};
          }};
}

Flag TextList(std::string name, std::string value, std::vector<std::string>* target, std::string help) {
  return {.name = std::move(name),
          .value = std::move(value),
          .help = std::move(help),
          .set = [=](std::string_view text) -> Status {
            target->emplace_back(text);
            return {};
          },
          .repeatable = true};
}

std::string FallbackOf(const Flag& flag) {
  static constexpr std::string_view kBegin = "(default";
  const size_t begin = flag.help.rfind(kBegin);
  if (begin == std::string::npos || flag.help.back() != ')') return "";
  std::string_view text = std::string_view(flag.help).substr(begin + kBegin.size());
  text.remove_suffix(1);
  while (text.starts_with(":") || text.starts_with(" ")) text.remove_prefix(1);
  return std::string(text);
}

std::vector<Flag> Grouped(std::string group, std::vector<Flag> flags) {
  for (Flag& flag : flags) flag.group = group;
  return flags;
}

void Append(std::vector<Flag>& flags, std::vector<Flag> more) {
  flags.insert(flags.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::optional<std::string> NearestName(std::string_view typed, const std::vector<std::string>& names) {
  // More than a third of the letters wrong is another word, not a slip.
  size_t distance_best = typed.size() / 3 + 1;
  std::optional<std::string> nearest;
  for (const std::string& name : names) {
    // Levenshtein distance, one row at a time.
    std::vector<size_t> row(name.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 1; i <= typed.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= name.size(); ++j) {
        const size_t above = row[j];
        row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (typed[i - 1] == name[j - 1] ? 0 : 1)});
        diagonal = above;
      }
    }
    if (row.back() < distance_best) {
      distance_best = row.back();
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace samebit::cli
