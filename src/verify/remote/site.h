// How a server is reached and asked, one request at a time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/client.h"
#include "verify/remote/wire.h"
#include "world/clock.h"

namespace samebit::verify {

struct Site {
  http::Url url;          // its path is that of the API: "/v1" or, behind a proxy, "/models/a/v1"
  std::string api_key;    // empty: none
  uint32_t stall_seconds = limits::kServerStallSeconds;
  const world::Clock* clock = nullptr;                  // required
  const std::atomic<bool>* cancelled = nullptr;         // may be null

  // The path without "/v1": where /metrics and /generate are.
  std::string root() const;
};

// A connection of its own, opened with its first request.
std::unique_ptr<http::Client> Connect(const Site& site, bool reconnect = true);

// GET of a path; the body of a 200. Failures: as AskServer's.
Result<std::string> GetText(http::Client& client, const Site& site, const std::string& path);

struct Told {
  WireAnswer answer;
  uint64_t began_ns = 0, first_ns = 0, ended_ns = 0;  // first: of a stream, the first chunk with a choice
};
// go_on: asked at each piece of a stream; false leaves the stream, which is then kCancelled.
// Failures: those of the client and of wire.h; a status other than 200, with the server's sentence: kInvalidArgument
// (401, 403: a key is missing or wrong), kNotFound (404, 405), kUnsupported (400, 409, 413, 422, 501: it refuses the
// request), kCapacity (429, 503), kInternal (the others). kIo is left for a server that does not answer at all.
Result<Told> AskServer(http::Client& client, const Site& site, const WireRequest& request, const Manner& manner,
                       const std::function<bool()>& go_on = nullptr);

}  // namespace samebit::verify
