// Any bytes as a stream of server-sent events, cut anywhere: the events do not depend on the cuts, and a stream of our
// own writing comes back as it was.
#include <cstdlib>

#include "http/sse_reader.h"
#include "openai/answer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace samebit;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr size_t kBound = 4096;
  http::SseReader whole(kBound), cut(kBound);
  std::vector<http::SseEvent> of_whole, of_cut;
  const bool whole_ok = whole.Read(bytes, of_whole).ok();
  bool cut_ok = true;
  for (size_t at = 0, piece = 1 + data[0] % 7; at < size && cut_ok; at += piece, piece = 1 + data[at < size ? at : 0] % 7)
    cut_ok = cut.Read(bytes.substr(at, piece), of_cut).ok();
  if (whole_ok != cut_ok || of_whole.size() != of_cut.size()) std::abort();
  for (size_t i = 0; i < of_whole.size(); ++i) {
    if (of_whole[i].data != of_cut[i].data || of_whole[i].name != of_cut[i].name) std::abort();
    if (of_whole[i].data.size() > kBound) std::abort();
  }
  const std::string json = JsonQuoted(bytes);
  http::SseReader reader;
  std::vector<http::SseEvent> events;
  if (!reader.Read(openai::SseEvent(json), events).ok() || events.size() != 1 || events[0].data != json) std::abort();
  return 0;
}
