// An error as OpenAI's clients expect it: status, and {"error": {message, type, param, code}}, all four always present.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contract/refusal.h"

namespace samebit::openai {

struct ApiError {
  int status = 400;
  std::string message;
  std::string type = "invalid_request_error";
  std::string param;  // the field, as a path ("messages[0].content"); empty: null
  std::string code;
  bool is_refusal = false;          // of the contract's list: header X-Reproducibility-Error names the code
  std::vector<std::string> fields;  // fingerprint_mismatch: the pins that differ
  std::optional<uint32_t> retry_after_seconds;
  std::string allow;  // 405: the methods of the path
};

// A value that cannot be: 400.
ApiError InvalidValue(std::string param, std::string message, std::string code = "invalid_value");
// A refusal of the contract, with its status.
ApiError Refuse(contract::Refusal refusal, std::string param, std::string message);
ApiError Unsupported(std::string param, std::string message);

// The body.
std::string ErrorJson(const ApiError& error);

}  // namespace samebit::openai
