// Result<T>: the only way a function of samebit says that the world was wrong.
//
// "The world was wrong" is a file, a request, a network peer or a budget; it has a code from the
// closed list below and a sentence that says what, where, expected and found. "We were wrong" is a
// CHECK (check.h). Nothing throws across a module boundary, nothing prints, nothing aborts on input.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace samebit {

// Closed list. Every code is produced by a test; the same input gives the same code on every machine.
enum class ErrorCode {
  kInvalidArgument,  // a value that the caller chose is out of range or unknown
  kNotFound,         // a named file, tensor, token, model does not exist
  kIo,               // the operating system refused a read or a write
  kMalformed,        // bytes that do not follow their format (cut, lying, hostile)
  kUnsupported,      // well formed, but this build does not do it
  kTooLarge,         // over a limit of base/limits.h
  kCapacity,         // a budget (memory, queue, slots) is used up
  kContextOverflow,  // prompt and answer do not fit the model's context
  kNumeric,          // NaN or infinity inside a layer
  kCancelled,        // the caller withdrew the work
  kSelfTestFailed,   // kernels of this process do not give the golden bits
  kInternal,         // reported instead of crashing where a library failed under us
};

// Stable lower_snake name, used in JSON and messages.
const char* ErrorCodeName(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Precondition: ok().
  T& value() & { CHECK(ok()); return std::get<0>(state_); }
  const T& value() const& { CHECK(ok()); return std::get<0>(state_); }
  T&& value() && { CHECK(ok()); return std::get<0>(std::move(state_)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

  // Precondition: !ok().
  const Error& error() const { CHECK(!ok()); return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// Success carries nothing.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { CHECK(!ok()); return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace samebit

#define SAMEBIT_CONCAT_INNER(a, b) a##b
#define SAMEBIT_CONCAT(a, b) SAMEBIT_CONCAT_INNER(a, b)

// RETURN_IF_ERROR(DoIt());            passes a failure up
#define RETURN_IF_ERROR(expression)                          \
  do {                                                       \
    auto status_of_call = (expression);                      \
    if (!status_of_call.ok()) return status_of_call.error(); \
  } while (false)

// ASSIGN_OR_RETURN(auto x, Make());   unwraps a success or passes a failure up
#define ASSIGN_OR_RETURN(declaration, expression)                                  \
  auto SAMEBIT_CONCAT(result_at_, __LINE__) = (expression);                        \
  if (!SAMEBIT_CONCAT(result_at_, __LINE__).ok())                                  \
    return SAMEBIT_CONCAT(result_at_, __LINE__).error();                           \
  declaration = std::move(SAMEBIT_CONCAT(result_at_, __LINE__)).value()
