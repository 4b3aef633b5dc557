#include "server/server.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace samebit::server {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);
// For the last words of streams that are cut off: a step of the engine and a write.
constexpr int kLastWordPolls = 150;

}  // namespace

ModelServer::ModelServer(ServerConfig config, ServedModel model, std::unique_ptr<engine::Engine> engine,
                         std::unique_ptr<engine::Embedder> embedder, const ServerOutside& outside)
    : config_(std::move(config)),
      model_(std::move(model)),
      port_outside_{outside.clock, metrics_, config_.access_log ? &outside.log : nullptr},
      work_(std::make_unique<WorkQueue>()),
      embeds_(std::make_unique<EmbedQueue>(std::move(embedder), std::max(config_.queue_max, limits::kEmbeddingInputsMax))),
      engine_(std::make_unique<EngineThread>(std::move(engine), config_.queue_max,
                                             [this](std::vector<std::shared_ptr<Session>> sessions) {
                                               // One wake-up of the HTTP thread for all of a step's sessions.
                                               http_->Post([sessions = std::move(sessions)] {
                                                 for (const auto& session : sessions) session->Wake();
                                               });
                                             },
                                             embeds_.get())),
      routes_(std::make_unique<Routes>(
          RoutesOutside{model_, config_.keys, port_outside_, outside.entropy, *engine_, *embeds_, *work_, config_.rules})) {
  embeds_->WakeBy([this] { engine_->Nudge(); });
}

Result<std::unique_ptr<ModelServer>> ModelServer::Start(ServerConfig config, ServedModel model,
                                                        std::unique_ptr<engine::Engine> engine,
                                                        std::unique_ptr<engine::Embedder> embedder,
                                                        const ServerOutside& outside) {
  std::unique_ptr<ModelServer> server(
      new ModelServer(std::move(config), std::move(model), std::move(engine), std::move(embedder), outside));
  Routes* routes = server->routes_.get();
  ModelServer* self = server.get();
  routes->CountConnectionsBy([self] { return self->http_ ? self->http_->connections() : 0; });
  ASSIGN_OR_RETURN(server->http_, http::Server::Listen(
                                      server->config_.http,
                                      [routes](http::Request request, std::shared_ptr<http::Exchange> exchange) {
                                        routes->Handle(std::move(request), std::move(exchange));
                                      },
                                      [routes](http::Fault fault) { return routes->FaultPage(fault); }));
  server->http_->Run();
  return server;
}

// First nobody asks any more, then nobody prepares, then nobody computes; exchanges are let go before the sockets are.
ModelServer::~ModelServer() {
  if (http_) http_->Join();
  work_->Stop();
  engine_.reset();
  embeds_.reset();
  work_.reset();
  http_.reset();
}

void ModelServer::StopWorking() {
  routes_->StopWorking();
  http_->StopAccepting();
}

bool ModelServer::IsIdle() const {
  return http_->connections() == 0 && work_->waiting() == 0 && engine_->load().samples_in_flight == 0 &&
         embeds_->texts_in_flight() == 0;
}

bool ModelServer::FinishWork(const std::function<bool()>& give_up) {
  while (!IsIdle()) {
    if (give_up()) break;
    Tick();
    std::this_thread::sleep_for(kPoll);
  }
  if (IsIdle()) return true;
  engine_->CancelAll();
  embeds_->CancelAll();
  for (int i = 0; i < kLastWordPolls && !IsIdle(); ++i) std::this_thread::sleep_for(kPoll);
  return false;
}

}  // namespace samebit::server
