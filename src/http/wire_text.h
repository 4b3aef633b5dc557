// The bytes of a response: its head, and the chunks of a streamed body (RFC 9112).
#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace samebit::http {

enum class BodyKind {
  kWhole,         // Content-Length
  kChunked,       // Transfer-Encoding: chunked
  kUntilClose,    // HTTP/1.0: the end of the connection is the end of the body
};

struct HeadOptions {
  BodyKind body = BodyKind::kWhole;
  bool keep_alive = true;
  bool says_keep_alive = false;  // HTTP/1.0 clients must be told
};

std::string ResponseHead(const Response& response, const HeadOptions& options);
const char* ReasonPhrase(int status);

// One chunk around `bytes`; nothing for no bytes, because an empty chunk is the end.
std::string Chunk(std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace samebit::http
