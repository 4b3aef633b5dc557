#include "support/real_reference.h"

#include <cstring>
#include <filesystem>

#include "support/expected_data.h"

namespace samebit::test {

namespace {

const std::string kFolder = std::string(SAMEBIT_SOURCE_DIR) + "/tests/data/reference/";

template <class T>
std::vector<T> Section(const std::string& bytes, const boost::json::value& section) {
  const auto offset = section.at("offset").to_number<size_t>(), size = section.at("bytes").to_number<size_t>();
  if (offset + size > bytes.size()) StopTests("a section lies outside its file");
  std::vector<T> values(size / sizeof(T));
  std::memcpy(values.data(), bytes.data() + offset, size);
  return values;
}

}  // namespace

std::unique_ptr<model::Model> OpenReal(const std::string& file, std::string* why) {
  const std::string path = std::string(SAMEBIT_SOURCE_DIR) + "/models/" + file;
  if (!std::filesystem::exists(path)) {
    *why = "models/" + file + " is missing; ./check fetches it";
    return nullptr;
  }
  auto model = model::Open(path);
  if (model.ok()) return std::move(model).value();
  *why = model.error().message;
  return nullptr;
}

PagesReference ReadPagesReference(const std::string& name) {
  const boost::json::value json = ReadJsonOrStop(kFolder + "pages.json");
  const std::string bytes =
      ReadDigestedOrStop(kFolder + std::string(json.at("data_file").as_string()), json.at("data_sha256"));
  const boost::json::value& model = json.at("models").at(name);
  PagesReference reference;
  for (const boost::json::value& page : model.at("pages").as_array())
    reference.pages.push_back(NumbersOf<TokenId>(page));
  reference.negative_logprobs.resize(model.at("predictions").to_number<size_t>());
  const auto offset = model.at("nll_offset").to_number<size_t>();
  const size_t size = reference.negative_logprobs.size() * sizeof(float);
  if (offset + size > bytes.size()) StopTests("pages.bin is shorter than pages.json says");
  std::memcpy(reference.negative_logprobs.data(), bytes.data() + offset, size);
  reference.perplexity = model.at("perplexity").to_number<double>();
  reference.simulated_change_percent = model.at("simulated")
                                           .at("f16_cache_and_int8_activations")
                                           .at("perplexity_change_percent")
                                           .to_number<double>();
  return reference;
}

RealReference ReadRealReference(const std::string& name) {
  const boost::json::value json = ReadJsonOrStop(kFolder + name + ".json");
  const std::string bytes =
      ReadDigestedOrStop(kFolder + std::string(json.at("data_file").as_string()), json.at("data_sha256"));
  RealReference reference;
  reference.ids = NumbersOf<TokenId>(json.at("ids"));
  reference.positions = json.at("positions").to_number<uint32_t>();
  reference.perplexity = json.at("perplexity").to_number<double>();
  reference.top_ids = Section<uint32_t>(bytes, json.at("sections").at("top_ids"));
  reference.top_logprobs = Section<float>(bytes, json.at("sections").at("top_logprobs"));
  for (const boost::json::value& answer : json.at("greedy").as_array())
    reference.greedy.push_back({std::string(answer.at("user").as_string()), NumbersOf<TokenId>(answer.at("prompt_ids")),
                                NumbersOf<TokenId>(answer.at("ids")), NumbersOf<float>(answer.at("margins"))});
  const boost::json::value peers = ReadJsonOrStop(kFolder + "llama_cpp.json");
  const boost::json::value& peer = peers.at("models").at(name);
  const auto number = [&](const char* key) { return peer.at(key).to_number<double>(); };
  reference.llama_cpp = {number("kl_mean"),
                         number("kl_p99"),
                         number("kl_max"),
                         number("first_choice_equal"),
                         number("mismatch_margin_max"),
                         number("perplexity"),
                         number("perplexity_change_percent")};
  return reference;
}

}  // namespace samebit::test
