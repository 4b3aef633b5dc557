#include "cli/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/interrupt.h"

extern char** environ;

namespace samebit::cli {
namespace {

Error SystemError(const std::string& what, int number) { return {ErrorCode::kIo, what + ": " + std::strerror(number)}; }

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void Close() {
    if (number >= 0) close(number);
    number = -1;
  }
  int number = -1;
};

struct Pipe {
  Descriptor read_end, write_end;
  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end.number = ends[0];
    write_end.number = ends[1];
    return true;
  }
};

struct SpawnActions {
  SpawnActions() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnActions() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

// Writes all of `input` and reads until the child closes its output: both at once, so that neither pipe can fill up
// while the other waits. A child that stops reading is seen by its exit status.
Status Exchange(Descriptor& to_child, Descriptor& from_child, std::string_view input, std::string& output) {
  fcntl(to_child.number, F_SETFL, O_NONBLOCK);
  char buffer[1 << 16];
  while (true) {
    if (Interrupted()) return Error{ErrorCode::kCancelled, "interrupted"};
    pollfd waiting[2] = {{from_child.number, POLLIN, 0}, {to_child.number, POLLOUT, 0}};
    if (poll(waiting, to_child.number >= 0 ? 2 : 1, 200) < 0 && errno != EINTR) return SystemError("poll", errno);
    if (to_child.number >= 0 && waiting[1].revents != 0) {
      const ssize_t count = write(to_child.number, input.data(), input.size());
      if (count > 0) input.remove_prefix(static_cast<size_t>(count));
      const bool broken = count < 0 && errno != EAGAIN && errno != EINTR;
      if (input.empty() || broken) to_child.Close();
    }
    if (waiting[0].revents != 0) {
      const ssize_t count = read(from_child.number, buffer, sizeof buffer);
      if (count == 0) return {};
      if (count < 0 && errno != EINTR) return SystemError("reading from the child process", errno);
      if (count > 0) output.append(buffer, static_cast<size_t>(count));
    }
  }
}

}  // namespace

Result<std::string> RunOwnProgram(const std::vector<std::string>& arguments, std::string_view input) {
  Pipe to_child, from_child;
  if (!to_child.Open() || !from_child.Open()) return SystemError("pipe", errno);
  SpawnActions spawn;
  posix_spawn_file_actions_adddup2(&spawn.files, to_child.read_end.number, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&spawn.files, from_child.write_end.number, STDOUT_FILENO);

  std::vector<std::string> words = {"samebit"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  // A write to a child that has ended must be an error here, not a signal.
  signal(SIGPIPE, SIG_IGN);
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/proc/self/exe", &spawn.files, &spawn.attributes, argv.data(), environ);
  if (failed != 0) return SystemError("starting this program again", failed);
  to_child.read_end.Close();
  from_child.write_end.Close();

  std::string output;
  const Status exchanged = Exchange(to_child.write_end, from_child.read_end, input, output);
  if (!exchanged.ok()) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!exchanged.ok()) return exchanged.error();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  return Error{ErrorCode::kIo, WIFEXITED(status)
                                   ? "the child process ended with exit code " + std::to_string(WEXITSTATUS(status))
                                   : "the child process was ended by signal " + std::to_string(WTERMSIG(status))};
}

Status RunShellCommand(const std::string& command) {
  SpawnActions spawn;
  posix_spawn_file_actions_addopen(&spawn.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&spawn.files, STDERR_FILENO, STDOUT_FILENO);
  std::string words[] = {"sh", "-c", command};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/bin/sh", &spawn.files, &spawn.attributes, argv, environ);
  if (failed != 0) return SystemError("starting /bin/sh", failed);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) != child) {
    if (Interrupted()) {
      kill(child, SIGTERM);
      waitpid(child, &status, 0);
      return Error{ErrorCode::kCancelled, "interrupted"};
    }
    poll(nullptr, 0, 50);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Error{ErrorCode::kIo, WIFEXITED(status)
                                   ? "the command ended with exit code " + std::to_string(WEXITSTATUS(status))
                                   : "the command was ended by signal " + std::to_string(WTERMSIG(status))};
}

}  // namespace samebit::cli
