// Files: read-only maps, bounded reads, writes that are never half done, folder listings.
//
// For: model files, prompts, reports. Not for: sockets, locks, temporary scratch data.
// Functions are safe from any thread; a MappedFile is immutable and may be read from any thread.
// A file that another process cuts short while it is mapped ends this process with SIGBUS, as with every mmap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace samebit::world {

enum class PathKind { kAbsent, kFile, kFolder, kOther };  // symbolic links are followed

PathKind KindOf(const std::string& path);

// A whole file mapped read-only. Movable; the span stays valid until the object is destroyed.
class MappedFile {
 public:
  // Failures: kNotFound, kIo (no permission, not a regular file). An empty file maps to an empty span.
  static Result<MappedFile> Open(const std::string& path);
  // The same for a file that must not be anybody else's work: also kIo where its owner is neither this process's user
  // nor root, where the group or others may write to it, or where the path is a symbolic link.
  static Result<MappedFile> OpenOwn(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

  // Gives the pages back to the operating system; the next access reads them from the file again.
  void ReleasePages() const;

 private:
  MappedFile(std::string path, const std::byte* data, size_t size) : path_(std::move(path)), data_(data), size_(size) {}

  std::string path_;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// The whole content. Failures: kNotFound, kIo, kTooLarge (more than bytes_max; nothing is allocated beyond it).
Result<std::string> ReadWholeFile(const std::string& path, uint64_t bytes_max);

// Writes a temporary file in the same folder, syncs it and renames it over `path`: a reader, a crash or a Ctrl-C sees
// the old file or the new one, never a part. Failure: kIo; the temporary file is removed.
Status WriteFileAtomically(const std::string& path, std::string_view bytes);
// The same for content that lies in several places: the pieces, one after the other.
Status WriteFileAtomically(const std::string& path, std::span<const std::string_view> pieces);

// Names (not paths) of the entries of a folder, sorted by byte value, without "." and "..".
// Failures: kNotFound, kIo.
Result<std::vector<std::string>> ListFolder(const std::string& path);

}  // namespace samebit::world
