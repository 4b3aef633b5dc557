#include <algorithm>

#include "model/loaded_model.h"

namespace samebit::model {

Result<std::vector<FileDigest>> DigestFiles(const std::string& folder, std::vector<std::string> names) {
  std::ranges::sort(names);
  std::vector<FileDigest> digests;
  for (std::string& name : names) {
    // A map of its own, dropped at once: the pages of the model's own map stay as the loader left them.
    ASSIGN_OR_RETURN(const world::MappedFile file, world::MappedFile::Open(folder + name));
    const std::span<const std::byte> bytes = file.bytes();
    digests.push_back({std::move(name), bytes.size(), Sha256::Of(bytes.data(), bytes.size())});
  }
  return digests;
}

}  // namespace samebit::model
