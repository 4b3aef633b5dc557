#include "cli/access_flags.h"

#include "server/cors.h"

namespace samebit::cli {
namespace {

constexpr uint32_t kLimitMax = 1'000'000;

Flag OriginsFlag(std::vector<std::string>* target) {
  return {.name = "--cors-origin",
          .value = "ORIGIN",
          .help = "pages of this origin may ask from a browser; *: all (default: none)",
          .set = [=](std::string_view text) -> Status {
            RETURN_IF_ERROR(server::CheckOrigin(text));
            target->emplace_back(text);
            return {};
          },
          .repeatable = true};
}

}  // namespace

std::vector<Flag> AccessFlags::flags() {
  return Grouped(
      "Access",
      {Text("--tls-certificate", "FILE", &tls_certificate, "TLS: a chain of certificates, PEM (default: no TLS)"),
       Text("--tls-key", "FILE", &tls_key, "its key, PEM, without a password"),
       Whole("--key-requests-per-minute", &key_requests_per_minute, 0, kLimitMax,
             "of each API key that has no limit of its own; 0: no limit (default 0)"),
       Whole("--key-in-flight", &key_in_flight, 0, kLimitMax, "requests of such a key at once; 0: no limit (default 0)"),
       OriginsFlag(&cors_origins),
       Whole("--body-seconds", &body_seconds, 1, 3600, "time for a request's body (default 60)"),
       Whole("--first-byte-seconds", &first_byte_seconds, 0, 86'400,
             "an answer that has not begun by then is given up with 503; 0: never (default 600)"),
       Switch("--log-prompts", &log_prompts, true, "write the bodies of requests into the access log")});
}

Status AccessFlags::Configure(server::ServerConfig& config) const {
  if (tls_certificate.has_value() != tls_key.has_value()) {
    return Error{ErrorCode::kInvalidArgument, tls_key ? "--tls-key needs --tls-certificate beside it"
                                                      : "--tls-certificate needs --tls-key beside it"};
  }
  if (tls_certificate) {
    config.http.tls = http::TlsFiles{*tls_certificate, *tls_key};
    RETURN_IF_ERROR(http::CheckTls(*config.http.tls));
  }
  config.http.body_seconds = body_seconds.value_or(config.http.body_seconds);
  config.rules.key_limits = {key_requests_per_minute, key_in_flight};
  config.rules.cors_origins = cors_origins;
  config.rules.first_byte_seconds = first_byte_seconds.value_or(config.rules.first_byte_seconds);
  config.rules.log_prompts = log_prompts;
  return {};
}

}  // namespace samebit::cli
