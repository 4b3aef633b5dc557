#include "world/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "world/machine.h"

namespace samebit::world {
namespace {

Error SystemError(const std::string& path, const char* action, int error_number) {
  const bool absent = error_number == ENOENT || error_number == ENOTDIR;
  return Error{absent ? ErrorCode::kNotFound : ErrorCode::kIo,
               path + ": cannot " + action + ": " + std::strerror(error_number)};
}

// Closes the descriptor on every way out.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }
  int Close() { return descriptor_ < 0 ? 0 : ::close(std::exchange(descriptor_, -1)); }

 private:
  int descriptor_;
};

enum class Owner { kAny, kOwn };

// Opens a regular file for reading and tells its size. O_NONBLOCK: a named pipe must not hold us at open().
Result<int> OpenRegular(const std::string& path, uint64_t* bytes, Owner owner = Owner::kAny) {
  const int links = owner == Owner::kOwn ? O_NOFOLLOW : 0;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | links);
  if (descriptor < 0) return SystemError(path, "open", errno);
  struct stat status;
  if (::fstat(descriptor, &status) != 0) {
    const int error_number = errno;
    ::close(descriptor);
    return SystemError(path, "stat", error_number);
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return Error{ErrorCode::kIo, path + ": expected a regular file, found " +
                                     (S_ISDIR(status.st_mode) ? "a folder" : "something else")};
  }
  const bool own = (status.st_uid == ::geteuid() || status.st_uid == 0) && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (owner == Owner::kOwn && !own) {
    ::close(descriptor);
    return Error{ErrorCode::kIo, path + ": expected a file that only its owner, this user or root, may write"};
  }
  *bytes = static_cast<uint64_t>(status.st_size);
  return descriptor;
}

Result<std::span<const std::byte>> Map(const std::string& path, Owner owner) {
  uint64_t bytes = 0;
  ASSIGN_OR_RETURN(const int opened, OpenRegular(path, &bytes, owner));
  const Descriptor descriptor(opened);
  if (bytes == 0) return std::span<const std::byte>();
  void* data = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
  if (data == MAP_FAILED) return SystemError(path, "map", errno);
  return std::span(static_cast<const std::byte*>(data), bytes);
}

}  // namespace

PathKind KindOf(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return PathKind::kAbsent;
  if (S_ISREG(status.st_mode)) return PathKind::kFile;
  if (S_ISDIR(status.st_mode)) return PathKind::kFolder;
  return PathKind::kOther;
}

Result<MappedFile> MappedFile::Open(const std::string& path) {
  ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, Map(path, Owner::kAny));
  return MappedFile(path, bytes.data(), bytes.size());
}

Result<MappedFile> MappedFile::OpenOwn(const std::string& path) {
  ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, Map(path, Owner::kOwn));
  return MappedFile(path, bytes.data(), bytes.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::ReleasePages() const {
  if (data_ != nullptr) ::madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
}

Result<std::string> ReadWholeFile(const std::string& path, uint64_t bytes_max) {
  uint64_t bytes = 0;
  ASSIGN_OR_RETURN(const int opened, OpenRegular(path, &bytes));
  const Descriptor descriptor(opened);
  if (bytes > bytes_max) {
    return Error{ErrorCode::kTooLarge, path + ": expected at most " + std::to_string(bytes_max) + " bytes, found " +
                                           std::to_string(bytes)};
  }
  std::string content(bytes, '\0');
  uint64_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::read(descriptor.get(), content.data() + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(path, "read", errno);
    if (got == 0) break;  // the file became shorter while we read it
    done += static_cast<uint64_t>(got);
  }
  content.resize(done);
  return content;
}

Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  return WriteFileAtomically(path, std::span(&bytes, 1));
}

Status WriteFileAtomically(const std::string& path, std::span<const std::string_view> pieces) {
  // The process id and a counter keep writers of one folder apart; O_EXCL refuses a planted file or link.
  static std::atomic<uint64_t> counter = 0;
  const std::string temporary =
      path + "." + std::to_string(ProcessId()) + "." + std::to_string(counter.fetch_add(1)) + ".tmp";
  Descriptor descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (descriptor.get() < 0) return Error{ErrorCode::kIo, SystemError(temporary, "create", errno).message};
  const auto give_up = [&](const char* action, int error_number) {
    descriptor.Close();
    ::unlink(temporary.c_str());
    return Error{ErrorCode::kIo, SystemError(path, action, error_number).message};
  };
  for (std::string_view bytes : pieces) {
    while (!bytes.empty()) {
      const ssize_t put = ::write(descriptor.get(), bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return give_up("write", errno);
      bytes.remove_prefix(static_cast<size_t>(put));
    }
  }
  if (::fsync(descriptor.get()) != 0) return give_up("sync", errno);
  if (descriptor.Close() != 0) return give_up("close", errno);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return give_up("replace", errno);
  return {};
}

Result<std::vector<std::string>> ListFolder(const std::string& path) {
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return SystemError(path, "list", errno);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int error_number = errno;
  ::closedir(folder);
  if (error_number != 0) return SystemError(path, "list", error_number);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace samebit::world
