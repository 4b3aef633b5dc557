// The table of paths and what each does. Called on the HTTP thread; everything that may take long goes to the work
// thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "http/server.h"
#include "server/answer_port.h"
#include "server/api_keys.h"
#include "server/embed_queue.h"
#include "server/engine_thread.h"
#include "server/first_byte_watch.h"
#include "server/key_gate.h"
#include "server/served_model.h"
#include "server/work_queue.h"
#include "world/entropy.h"

namespace samebit::server {

// What the operator lets clients do.
struct AccessRules {
  KeyLimits key_limits;                                      // of keys that say nothing themselves
  std::vector<std::string> cors_origins;                     // none: no page of another origin may ask
  uint32_t first_byte_seconds = limits::kFirstByteSeconds;   // 0: for ever
  bool log_prompts = false;
};

// Borrowed; all outlive the routes.
struct RoutesOutside {
  const ServedModel& model;
  const ApiKeys& keys;
  const PortOutside& port;
  world::Entropy& entropy;
  EngineThread& engine;
  EmbedQueue& embeds;
  WorkQueue& work;
  const AccessRules& rules;
};

class Routes {
 public:
  explicit Routes(const RoutesOutside& outside);

  void Handle(http::Request request, std::shared_ptr<http::Exchange> exchange);
  // The answer to bytes that are no request; it is counted, and has no line in the log.
  http::Response FaultPage(http::Fault fault);

  // From now on work is refused and /ready says no.
  void StopWorking() { stopping_ = true; }
  // Ends what did not begin in time; to be called every now and then.
  void EndLateAnswers() { first_bytes_.Look(); }
  // How many connections there are, for /metrics.
  void CountConnectionsBy(std::function<size_t()> count) { connection_count_ = std::move(count); }

 private:
  using Port = std::shared_ptr<AnswerPort>;
  struct Route {
    const char* path;
    const char* method;
    bool needs_key;
    void (Routes::*action)(const http::Request&, const Port&);
  };
  static const Route kRoutes[];

  const Route* Find(const http::Request& request, openai::ApiError& error) const;
  void Chat(const http::Request& request, const Port& port);
  void Completions(const http::Request& request, const Port& port);
  void Embeddings(const http::Request& request, const Port& port);
  void Models(const http::Request& request, const Port& port);
  void OneModel(const http::Request& request, const Port& port);
  void Tokenize(const http::Request& request, const Port& port);
  void Detokenize(const http::Request& request, const Port& port);
  void TokenizerInfo(const http::Request& request, const Port& port);
  void Health(const http::Request& request, const Port& port);
  void Ready(const http::Request& request, const Port& port);
  void Version(const http::Request& request, const Port& port);
  void Fingerprint(const http::Request& request, const Port& port);
  void MetricsText(const http::Request& request, const Port& port);
  void OpenApi(const http::Request& request, const Port& port);
  void Page(const http::Request& request, const Port& port);

  struct PrepareInput MakeInput();
  // Runs `go(body)` on the work thread with the request's JSON, or answers with what is wrong with it.
  template <class Go>
  void WithJson(const http::Request& request, const Port& port, Go go);
  // An endpoint that generates: parse, prepare, submit; the first error answers.
  template <auto kParse, auto kPrepare>
  void Answer(const http::Request& request, const Port& port);
  void Submit(struct Prepared prepared, const Port& port);
  void CancelWhenGone(const Port& port, const std::shared_ptr<Session>& session);
  std::string NextId();

  const RoutesOutside outside_;
  std::atomic<bool> stopping_ = false;
  std::atomic<uint32_t> next_ = 1;
  std::string start_hex_;
  std::function<size_t()> connection_count_;
  KeyGate gate_;
  FirstByteWatch first_bytes_;
};

}  // namespace samebit::server
