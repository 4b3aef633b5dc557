// `samebit serve`: one model behind OpenAI's HTTP interface. Starts when everything is proved and loaded; stops in order.
#pragma once

#include <functional>
#include <memory>

#include "server/routes.h"

namespace samebit::server {

struct ServerConfig {
  http::ServerOptions http;
  ApiKeys keys;
  uint32_t queue_max = limits::kQueuedAnswersMax;  // answers that may wait beyond those that run
  bool access_log = true;
  AccessRules rules;
};

// Borrowed; all outlive the server.
struct ServerOutside {
  const world::Clock& clock;
  world::Entropy& entropy;
  world::LogSink& log;
};

class ModelServer {
 public:
  // engine: null where the model is a sentence encoder. Failures: those of http::Server::Listen.
  static Result<std::unique_ptr<ModelServer>> Start(ServerConfig config, ServedModel model,
                                                    std::unique_ptr<engine::Engine> engine,
                                                    std::unique_ptr<engine::Embedder> embedder,
                                                    const ServerOutside& outside);
  ~ModelServer();  // at once; call StopWorking and FinishWork before

  uint16_t port() const { return http_->port(); }

  // Looks after deadlines; to be called a few times a second.
  void Tick() { routes_->EndLateAnswers(); }

  // No new work: the listener closes, requests on open connections are refused, /ready says no.
  void StopWorking();
  // Waits for what is in flight; gives up when `give_up` says so, and then ends it with an error that says why.
  // False: something had to be ended.
  bool FinishWork(const std::function<bool()>& give_up);

 private:
  ModelServer(ServerConfig config, ServedModel model, std::unique_ptr<engine::Engine> engine,
              std::unique_ptr<engine::Embedder> embedder, const ServerOutside& outside);
  bool IsIdle() const;

  const ServerConfig config_;
  const ServedModel model_;
  Metrics metrics_;
  const PortOutside port_outside_;
  // Taken down by hand, see the destructor: they know each other.
  std::unique_ptr<WorkQueue> work_;
  std::unique_ptr<EmbedQueue> embeds_;
  std::unique_ptr<EngineThread> engine_;
  std::unique_ptr<Routes> routes_;
  std::unique_ptr<http::Server> http_;
};

}  // namespace samebit::server
