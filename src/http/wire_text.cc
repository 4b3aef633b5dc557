#include "http/wire_text.h"

#include <charconv>

namespace samebit::http {
namespace {

// A header's name or value cannot end its line, whatever it was made from.
void AppendHeader(std::string& out, std::string_view name, std::string_view value) {
  const auto append = [&](std::string_view text) {
    for (const char c : text) {
      if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out += c;
    }
  };
  append(name);
  out += ": ";
  append(value);
  out += "\r\n";
}

}  // namespace

const char* ReasonPhrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    default: return "Status";
  }
}

std::string ResponseHead(const Response& response, const HeadOptions& options) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " " + ReasonPhrase(response.status) + "\r\n";
  AppendHeader(out, "Server", "samebit");
  if (!response.content_type.empty()) AppendHeader(out, "Content-Type", response.content_type);
  if (options.body == BodyKind::kWhole) AppendHeader(out, "Content-Length", std::to_string(response.body.size()));
  if (options.body == BodyKind::kChunked) AppendHeader(out, "Transfer-Encoding", "chunked");
  if (!options.keep_alive) AppendHeader(out, "Connection", "close");
  if (options.keep_alive && options.says_keep_alive) AppendHeader(out, "Connection", "keep-alive");
  for (const auto& [name, value] : response.headers) AppendHeader(out, name, value);
  return out + "\r\n";
}

std::string Chunk(std::string_view bytes) {
  if (bytes.empty()) return "";
  char digits[16];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, bytes.size(), 16);
  (void)error;  // sixteen digits hold every size
  std::string out;
  out.reserve(bytes.size() + 24);
  out.append(digits, end);
  out += "\r\n";
  out += bytes;
  return out + "\r\n";
}

}  // namespace samebit::http
