// Reads committed expected values; ends the test program with a sentence where a file is missing or damaged.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/json_reader.h"

namespace samebit::test {

[[noreturn]] inline void StopTests(const std::string& message) {
  std::fprintf(stderr, "tests/data: %s\n", message.c_str());
  std::exit(1);
}

template <class T>
T ValueOrStop(Result<T> result) {
  if (!result.ok()) StopTests(result.error().message);
  return std::move(result).value();
}

inline std::string ReadFileOrStop(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) StopTests("cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline boost::json::value ReadJsonOrStop(const std::string& path) {
  return ValueOrStop(ReadJson(ReadFileOrStop(path), path));
}

// A file of numbers that must be the one that its description was made with.
inline std::string ReadDigestedOrStop(const std::string& path, const boost::json::value& sha256) {
  std::string bytes = ReadFileOrStop(path);
  if (Sha256::Of(bytes).hex() != sha256.as_string()) StopTests(path + " has another digest");
  return bytes;
}

template <class T>
std::vector<T> NumbersOf(const boost::json::value& value) {
  std::vector<T> numbers;
  for (const boost::json::value& element : value.as_array()) numbers.push_back(element.to_number<T>());
  return numbers;
}

}  // namespace samebit::test
