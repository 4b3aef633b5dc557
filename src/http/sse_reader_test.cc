#include "http/sse_reader.h"

#include <gtest/gtest.h>

namespace samebit::http {
namespace {

std::vector<std::string> DataOf(const std::vector<SseEvent>& events) {
  std::vector<std::string> data;
  for (const SseEvent& event : events) data.push_back(event.data);
  return data;
}

TEST(SseReader, gives_the_same_events_however_the_bytes_are_cut) {
  const std::string stream =
      "\xef\xbb\xbf" "data: one\n\n: a comment\r\ndata:two\r\ndata: lines\r\n\r\nevent: error\rdata\r\r\n\nid: 7\ndata: [DONE]\n\n";
  const std::vector<std::string> expected = {"one", "two\nlines", "", "[DONE]"};
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    SseReader reader;
    std::vector<SseEvent> events;
    for (size_t at = 0; at < stream.size(); at += piece) ASSERT_TRUE(reader.Read(stream.substr(at, piece), events).ok());
    EXPECT_EQ(DataOf(events), expected) << "pieces of " << piece;
    EXPECT_EQ(events[2].name, "error");
    EXPECT_TRUE(reader.between_events());
  }
}

TEST(SseReader, knows_that_a_stream_was_cut_inside_an_event) {
  const std::string stream = "data: {\"a\": 1}\n\n";
  for (size_t length = 1; length < stream.size(); ++length) {
    SseReader reader;
    std::vector<SseEvent> events;
    ASSERT_TRUE(reader.Read(stream.substr(0, length), events).ok());
    EXPECT_TRUE(events.empty()) << length;
    EXPECT_FALSE(reader.between_events()) << length;
  }
}

TEST(SseReader, passes_over_what_is_no_data) {
  SseReader reader;
  std::vector<SseEvent> events;
  ASSERT_TRUE(reader.Read("event: ping\n\n:\n\nretry: 5\nnonsense\n\n\n\n", events).ok());
  EXPECT_TRUE(events.empty());
  EXPECT_TRUE(reader.between_events());
}

TEST(SseReader, bounds_lines_and_events) {
  std::vector<SseEvent> events;
  SseReader lines(64);
  EXPECT_EQ(lines.Read(std::string(65, 'x'), events).error().code, ErrorCode::kTooLarge);
  SseReader sum(64);
  Status status;
  for (int i = 0; i < 20 && status.ok(); ++i) status = sum.Read("data: eight by\n", events);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kTooLarge);
  EXPECT_TRUE(events.empty());
}

}  // namespace
}  // namespace samebit::http
