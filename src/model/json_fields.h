// A JSON object seen as Fields. Not in numeric-only builds.
#pragma once

#include <boost/json/value.hpp>
#include <memory>
#include <string>

#include "model/fields.h"

namespace samebit::model {

class JsonFields final : public Fields {
 public:
  // `where`: the file and, for inner objects, the path of keys. `document` keeps `object` alive.
  JsonFields(std::shared_ptr<const boost::json::value> document, const boost::json::object& object, std::string where)
      : document_(std::move(document)), object_(object), where_(std::move(where)) {}

  // Reads a file that holds one object. Failures: kNotFound, kIo, kTooLarge, kMalformed.
  static Result<std::unique_ptr<JsonFields>> ReadFile(const std::string& path);
  // The same from text.
  static Result<std::unique_ptr<JsonFields>> Parse(std::string_view text, const std::string& where);

  bool Has(std::string_view key) const override;
  Result<uint64_t> Unsigned(std::string_view key) const override;
  Result<double> Number(std::string_view key) const override;
  Result<bool> Boolean(std::string_view key) const override;
  Result<std::string> Text(std::string_view key) const override;
  Result<std::vector<std::string>> Texts(std::string_view key) const override;
  Result<std::unique_ptr<Fields>> Object(std::string_view key) const override;
  Error Complain(ErrorCode code, std::string_view key, const std::string& expected,
                 const std::string& found) const override;

  const boost::json::object& object() const { return object_; }
  // nullptr where absent or null.
  const boost::json::value* Find(std::string_view key) const;

 private:
  Error WrongType(std::string_view key, const char* expected) const;

  std::shared_ptr<const boost::json::value> document_;
  const boost::json::object& object_;
  std::string where_;
};

}  // namespace samebit::model
