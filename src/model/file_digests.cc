#include <algorithm>

#include "model/loaded_model.h"

namespace samebit::model {

// Bytes of a file that are in memory at once.
static constexpr size_t kPieceBytes = size_t{8} << 20;

Result<std::vector<FileDigest>> DigestFiles(const std::string& folder, std::vector<std::string> names) {
  std::ranges::sort(names);
  std::vector<FileDigest> digests;
  for (std::string& name : names) {
    // A map of its own, dropped at once: the pages of the model's own map stay as the loader left them.
    ASSIGN_OR_RETURN(const world::MappedFile file, world::MappedFile::Open(folder + name));
    std::span<const std::byte> bytes = file.bytes();
    Sha256 hash;
    while (!bytes.empty()) {
      const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), kPieceBytes));
      hash.Update(piece.data(), piece.size());
      file.ReleasePages();
      bytes = bytes.subspan(piece.size());
    }
    digests.push_back({std::move(name), file.bytes().size(), hash.Finish()});
  }
  return digests;
}

}  // namespace samebit::model
