// GGUF metadata seen as Fields. The GgufFile must outlive it.
#pragma once

#include "model/fields.h"
#include "model/gguf_reader.h"

namespace samebit::model {

class GgufFields final : public Fields {
 public:
  explicit GgufFields(const GgufFile& file) : file_(file) {}

  bool Has(std::string_view key) const override { return file_.Find(key) != nullptr; }
  Result<uint64_t> Unsigned(std::string_view key) const override;
  Result<double> Number(std::string_view key) const override;
  Result<bool> Boolean(std::string_view key) const override;
  Result<std::string> Text(std::string_view key) const override;
  Result<std::vector<std::string>> Texts(std::string_view key) const override;
  Result<std::unique_ptr<Fields>> Object(std::string_view key) const override;  // always kMalformed: GGUF has none
  Error Complain(ErrorCode code, std::string_view key, const std::string& expected,
                 const std::string& found) const override;

 private:
  Error WrongType(std::string_view key, const char* expected) const;

  const GgufFile& file_;
};

}  // namespace samebit::model
