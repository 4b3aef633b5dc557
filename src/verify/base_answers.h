// The base answers of a matrix: which ones are needed, and the answers, each made once. Not thread safe.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/request.h"
#include "verify/cell.h"

namespace samebit::verify {

struct BaseKey {
  uint32_t prompt = 0;
  SamplingKind sampling = SamplingKind::kGreedy;
  uint32_t sample_index = 0;
  auto operator<=>(const BaseKey&) const = default;
};

// Each needed answer with the most tokens that any cell asks of it. A shorter answer is compared with its beginning.
std::map<BaseKey, uint32_t> BaseAnswersNeeded(const std::vector<Cell>& cells);

class BaseAnswers {
 public:
  // tokens_asked: as many as the answer could have had.
  void Put(const BaseKey& key, engine::Choice answer, uint32_t tokens_asked) {
    answers_[key] = {std::move(answer), tokens_asked};
  }
  // Null where it was never made.
  const engine::Choice* Find(const BaseKey& key) const;
  uint32_t TokensAsked(const BaseKey& key) const;  // 0 where it was never made

 private:
  struct Made {
    engine::Choice answer;
    uint32_t tokens_asked = 0;
  };
  std::map<BaseKey, Made> answers_;
};

}  // namespace samebit::verify
