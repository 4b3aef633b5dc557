#include "verify/model_digest.h"

namespace samebit::verify {

std::string ModelSha256(const std::vector<model::FileDigest>& files) {
  if (files.size() == 1) return files.front().sha256.hex();
  Sha256 all;
  for (const model::FileDigest& file : files) all.Update(file.path + " " + file.sha256.hex() + "\n");
  return all.Finish().hex();
}

}  // namespace samebit::verify
