// What is counted and what is written down.
#include "server/metrics.h"

#include <gtest/gtest.h>

#include "server/access_log.h"

namespace samebit::server {
namespace {

TEST(Metrics, counts_requests_tokens_refusals_and_times) {
  Metrics metrics;
  RequestCounts answered;
  answered.route = "/v1/completions";
  answered.prompt_tokens = 5;
  answered.completion_tokens = 7;
  answered.finished = {1, 2, 3};
  answered.seconds = 0.2;
  answered.first_token_seconds = 0.03;
  RequestCounts refused;
  refused.route = "/v1/completions";
  refused.status = 429;
  refused.refusal = "capacity";
  metrics.Count(answered);
  metrics.Count(answered);
  metrics.Count(refused);
  EngineLoad load;
  load.samples_in_flight = 10;
  load.sequences_max = 4;
  const std::string text = metrics.Text(load, 3);
  for (const char* line :
       {"samebit:num_requests_running 4\n", "samebit:num_requests_waiting 6\n", "samebit:http_connections 3\n",
        "samebit:prompt_tokens_total 10\n", "samebit:generation_tokens_total 14\n",
        "samebit:request_success_total{finished_reason=\"stop\"} 2\n",
        "samebit:request_success_total{finished_reason=\"length\"} 4\n",
        "samebit:request_success_total{finished_reason=\"tool_calls\"} 6\n",
        "samebit:http_requests_total{route=\"/v1/completions\",status=\"429\"} 1\n",
        "samebit:refusals_total{code=\"capacity\"} 1\n", "samebit:e2e_request_latency_seconds_bucket{le=\"0.1\"} 0\n",
        "samebit:e2e_request_latency_seconds_bucket{le=\"0.25\"} 2\n", "samebit:e2e_request_latency_seconds_count 2\n",
        "samebit:time_to_first_token_seconds_bucket{le=\"+Inf\"} 2\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(AccessLine, escapes_what_a_client_wrote_and_leaves_out_what_is_not_there) {
  AccessRecord record;
  record.request_id = "r\n{\"forged\":1}";
  record.user_agent = "a\x1b[2J\xff\"";
  record.path = "/\"\r\n" + std::string(1000, 'x');
  record.counts.status = 404;
  const std::string line = AccessLine(record);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find("\"forged\""), std::string::npos);
  EXPECT_LT(line.size(), 700u);
  EXPECT_EQ(line.find("gen_ai"), std::string::npos);
  record.counts.prompt_tokens = 3;
  record.client_left = true;
  EXPECT_NE(AccessLine(record).find("\"gen_ai.usage.input_tokens\":3"), std::string::npos);
  EXPECT_NE(AccessLine(record).find("\"client_left\":true"), std::string::npos);
}

}  // namespace
}  // namespace samebit::server
