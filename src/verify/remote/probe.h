// Finds out what a server is and takes, before anything is compared. Everything that it will not take is said.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verify/remote/choices.h"
#include "verify/remote/load.h"
#include "verify/remote/site.h"

namespace samebit::verify {

struct ServerFacts {
  std::string kind;         // "samebit", "vLLM", "llama.cpp", "SGLang", or "unknown"
  std::string model;        // as it is asked for
  Manner manner;
  Identity identity = Identity::kText;
  std::string identity_source;  // where the tokens' identity comes from: "return_token_ids"
  std::string maker;            // WireAnswer::maker of the first answer
  std::string count_metric;     // name of the gauge in /metrics that counts requests in work; empty: none
  bool works_on_several = false;  // two streams were seen to grow side by side
  std::vector<std::string> notes;
};

// model: empty takes the only one that the server lists. endpoint: only this one, else the best that answers.
// Failures: those of AskServer where not even the plainest request is answered; kInvalidArgument (several models and
// none chosen).
Result<ServerFacts> ProbeServer(const Site& site, const std::string& model, std::optional<Endpoint> endpoint);

// Asks `facts.count_metric`; null where the server has none.
ServerCount CounterOf(const Site& site, const ServerFacts& facts);

// The value of a gauge in Prometheus text, labels added up; nothing where it is not there.
std::optional<uint32_t> GaugeIn(std::string_view metrics, std::string_view name);

}  // namespace samebit::verify
