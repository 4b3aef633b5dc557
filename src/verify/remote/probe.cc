#include "verify/remote/probe.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <thread>

#include <boost/json/value.hpp>

#include "base/json_reader.h"
#include "base/valid_utf8.h"

namespace samebit::verify {
namespace {

namespace json = boost::json;

constexpr uint32_t kProbeTokens = 4;
// Two streams of this length are long enough to be seen side by side, and short enough to be asked on any server.
constexpr uint32_t kSideBySideTokens = 48;
constexpr int kSideBySideTries = 3;
constexpr size_t kModelNameBytesMax = 1024;

WireRequest ProbeRequest(const std::string& model, uint32_t tokens) {
  WireRequest request;
  request.model = model;
  request.messages = {{"user", "Count from one to a hundred in words."}};
  request.tokens_max = tokens;
  request.seed = 1;
  return request;
}

struct ModelList {
  std::vector<std::string> names;
  std::string owner;
};

ModelList ModelsIn(const std::string& text) {
  ModelList list;
  const auto value = ReadJson(text, "/v1/models");
  if (!value.ok() || !value->is_object()) return list;
  const json::value* data = value->get_object().if_contains("data");
  if (data == nullptr || !data->is_array()) return list;
  for (const json::value& model : data->get_array()) {
    if (!model.is_object()) continue;
    const json::value* id = model.get_object().if_contains("id");
    const json::value* owner = model.get_object().if_contains("owned_by");
    if (id != nullptr && id->is_string() && id->get_string().size() <= kModelNameBytesMax)
      list.names.push_back(ValidUtf8(std::string(id->get_string())));
    if (owner != nullptr && owner->is_string()) list.owner = std::string(owner->get_string());
  }
  return list;
}

std::string KindOf(const std::string& owner) {
  for (const auto& [name, kind] : {std::pair{"samebit", "samebit"}, {"vllm", "vLLM"}, {"llamacpp", "llama.cpp"}, {"sglang", "SGLang"}})
    if (owner == name) return kind;
  return "unknown";
}

// A request that the server has a reason to refuse; the others (no connection, a stall) end the probe.
bool IsRefusal(const Error& error) {
  return error.code == ErrorCode::kUnsupported || error.code == ErrorCode::kNotFound || error.code == ErrorCode::kInternal;
}

class Probe {
 public:
  Probe(const Site& site, std::optional<Endpoint> endpoint) : site_(site), endpoint_(endpoint), client_(Connect(site)) {}

  Result<ServerFacts> Run(const std::string& model) {
    RETURN_IF_ERROR(FindModel(model));
    RETURN_IF_ERROR(FindManner());
    RETURN_IF_ERROR(FindIdentity());
    FindCount();
    RETURN_IF_ERROR(LookSideBySide());
    return std::move(facts_);
  }

 private:
  Status FindModel(const std::string& model) {
    facts_.kind = "unknown";
    facts_.model = model;
    auto text = GetText(*client_, site_, site_.root() + "/v1/models");
    if (!text.ok() && text.error().code == ErrorCode::kInvalidArgument) return text.error();
    if (!text.ok() && !model.empty() && text.error().code == ErrorCode::kNotFound) return {};
    if (!text.ok()) return text.error();
    const ModelList list = ModelsIn(*text);
    facts_.kind = KindOf(list.owner);
    if (!model.empty()) return {};
    if (list.names.size() == 1) {
      facts_.model = list.names.front();
      return {};
    }
    std::string names;
    for (size_t i = 0; i < list.names.size() && i < 20; ++i) names += (i == 0 ? "" : ", ") + list.names[i];
    return Error{ErrorCode::kInvalidArgument, "--model: expected the name of a model, found none, and the server lists " +
                                                  (list.names.empty() ? "none" : std::to_string(list.names.size()) + ": " + names)};
  }

  Result<Told> Try(const Manner& manner) {
    return AskServer(*client_, site_, ProbeRequest(facts_.model, kProbeTokens), manner);
  }

  std::vector<Endpoint> EndpointsToTry() const {
    if (endpoint_) return {*endpoint_};
    if (facts_.kind == "SGLang") return {Endpoint::kGenerate, Endpoint::kChat, Endpoint::kCompletions};
    return {Endpoint::kChat, Endpoint::kCompletions};
  }

  // Everything at once; else the plainest request first and then every wish by itself, so that a refusal has a name.
  Status FindManner() {
    std::optional<Error> first_refusal;
    for (const Endpoint endpoint : EndpointsToTry()) {
      const bool own = endpoint == Endpoint::kGenerate;
      const Manner all = {.endpoint = endpoint, .token_ids = !own, .logprobs = true, .ignore_eos = true, .seed = true};
      auto told = Try(all);
      if (told.ok()) return Settle(all, std::move(*told));
      if (!IsRefusal(told.error())) return told.error();
      Manner manner = {.endpoint = endpoint};
      auto plain = Try(manner);
      if (plain.ok()) return AddWishes(manner, std::move(*plain));
      if (!IsRefusal(plain.error())) return plain.error();
      if (!first_refusal) first_refusal = plain.error();
      facts_.notes.push_back(std::string(EndpointName(endpoint)) + " cannot be used: " + plain.error().message);
    }
    return *first_refusal;
  }

  Status AddWishes(Manner manner, Told told) {
    const auto wish = [&](bool Manner::* what, const char* name, const char* consequence) -> Status {
      Manner wished = manner;
      wished.*what = true;
      auto answer = Try(wished);
      if (answer.ok()) {
        manner = wished;
        told = std::move(*answer);
        return {};
      }
      if (!IsRefusal(answer.error())) return answer.error();
      facts_.notes.push_back(std::string("the server refuses ") + name + " (" + answer.error().message + "): " + consequence);
      return {};
    };
    RETURN_IF_ERROR(wish(&Manner::seed, "seed", "sampled answers cannot be compared"));
    RETURN_IF_ERROR(wish(&Manner::logprobs, "logprobs", "log-probabilities are not compared"));
    RETURN_IF_ERROR(wish(&Manner::ignore_eos, "ignore_eos", "answers may end before their length"));
    if (manner.endpoint != Endpoint::kGenerate)
      RETURN_IF_ERROR(wish(&Manner::token_ids, "return_token_ids", "token ids are taken from elsewhere, if they are told"));
    return Settle(manner, std::move(told));
  }

  Status Settle(const Manner& manner, Told told) {
    facts_.manner = manner;
    facts_.maker = told.answer.maker;
    whole_ = std::move(told.answer);
    if (whole_.choices.count(0) != 1) return Error{ErrorCode::kMalformed, "the server's answer: expected a choice 0"};
    return {};
  }

  // What a whole answer and a stream both tell.
  Status FindIdentity() {
    WireRequest request = ProbeRequest(facts_.model, kProbeTokens);
    request.streamed = true;
    auto streamed = AskServer(*client_, site_, request, facts_.manner);
    const Identity of_whole = IdentityOf(whole_);
    facts_.identity = of_whole;
    const WireChoice& choice = whole_.choices.at(0);
    if (facts_.manner.logprobs && choice.tokens.empty()) {
      facts_.manner.logprobs = false;
      facts_.notes.push_back("the server takes logprobs and gives none: log-probabilities are not compared");
    }
    if (!streamed.ok()) {
      if (!IsRefusal(streamed.error()) && streamed.error().code != ErrorCode::kMalformed) return streamed.error();
      facts_.notes.push_back("a streamed answer could not be read: " + streamed.error().message);
    } else {
      const Identity of_stream = IdentityOf(streamed->answer);
      if (of_stream > of_whole)
        facts_.notes.push_back(std::string("streams tell less of their tokens than whole answers (") +
                               IdentityName(of_stream) + ", " + IdentityName(of_whole) + "): all are compared by the former");
      facts_.identity = std::max(of_whole, of_stream);
      if (facts_.manner.logprobs && streamed->answer.choices.at(0).tokens.empty()) {
        facts_.manner.logprobs = false;
        facts_.notes.push_back("streams give no log-probabilities: none are compared");
      }
    }
    const bool ids_beside = !choice.ids.empty();
    facts_.identity_source = facts_.identity == Identity::kText         ? "the text of the answer"
                             : facts_.identity == Identity::kTokenBytes ? "the bytes of the log-probability tokens"
                             : facts_.manner.endpoint == Endpoint::kGenerate ? "output_ids of /generate"
                             : ids_beside                                    ? "return_token_ids"
                                                                             : "the ids of the log-probability tokens";
    return {};
  }

  void FindCount() {
    const auto text = GetText(*client_, site_, site_.root() + "/metrics");
    if (text.ok())
      for (const char* name : {"samebit:num_requests_running", "vllm:num_requests_running", "sglang:num_running_reqs",
                               "llamacpp:requests_processing"})
        if (GaugeIn(*text, name)) facts_.count_metric = name;
    if (facts_.count_metric.empty())
      facts_.notes.push_back("the server tells no count of the requests that it works on (/metrics): whether they shared "
                             "its batches is judged by two streams that grew side by side");
  }

  // Two streams at once, watched from here: did each begin before the other was half done? That they overlap at all is
  // not enough: one that has ended may be read to its end here only when the next has begun.
  Status LookSideBySide() {
    for (int attempt = 0; attempt < kSideBySideTries && !facts_.works_on_several; ++attempt) {
      std::optional<Told> told[2];
      std::optional<Error> failure[2];
      const auto ask = [&](int which) {
        const auto client = Connect(site_);
        WireRequest request = ProbeRequest(facts_.model, kSideBySideTokens << attempt);
        request.streamed = true;
        auto answer = AskServer(*client, site_, request, facts_.manner);
        if (answer.ok()) told[which] = std::move(*answer);
        else failure[which] = answer.error();
      };
      std::thread other(ask, 1);
      ask(0);
      other.join();
      for (const auto& error : failure)
        if (error && error->code == ErrorCode::kCancelled) return *error;
      if (!told[0] || !told[1]) return {};  // the note on streams stands already
      const auto half_ns = [](const Told& one) { return one.first_ns + (one.ended_ns - one.first_ns) / 2; };
      facts_.works_on_several = told[0]->first_ns < half_ns(*told[1]) && told[1]->first_ns < half_ns(*told[0]);
    }
    return {};
  }

  const Site& site_;
  const std::optional<Endpoint> endpoint_;
  const std::unique_ptr<http::Client> client_;
  ServerFacts facts_;
  WireAnswer whole_;
};

}  // namespace

Result<ServerFacts> ProbeServer(const Site& site, const std::string& model, std::optional<Endpoint> endpoint) {
  return Probe(site, endpoint).Run(model);
}

ServerCount CounterOf(const Site& site, const ServerFacts& facts) {
  if (facts.count_metric.empty()) return nullptr;
  const std::shared_ptr<http::Client> client = Connect(site);
  return [client, &site, name = facts.count_metric]() -> std::optional<uint32_t> {
    const auto text = GetText(*client, site, site.root() + "/metrics");
    return text.ok() ? GaugeIn(*text, name) : std::nullopt;
  };
}

std::optional<uint32_t> GaugeIn(std::string_view metrics, std::string_view name) {
  std::optional<double> sum;
  while (!metrics.empty()) {
    const size_t end = std::min(metrics.find('\n'), metrics.size());
    std::string_view line = metrics.substr(0, end);
    metrics.remove_prefix(std::min(end + 1, metrics.size()));
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    if (line.starts_with('{')) line.remove_prefix(std::min(line.find('}'), line.size() - 1) + 1);
    if (!line.starts_with(' ')) continue;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    double value = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), value).ec == std::errc() && std::isfinite(value))
      sum = sum.value_or(0) + value;
  }
  if (!sum || *sum < 0 || *sum > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*sum);
}

}  // namespace samebit::verify
