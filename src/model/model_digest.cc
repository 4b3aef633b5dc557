#include "model/model_digest.h"

namespace samebit::model {

Sha256Digest DigestOfFiles(const std::vector<FileDigest>& files) {
  if (files.size() == 1) return files.front().sha256;
  Sha256 all;
  for (const FileDigest& file : files) all.Update(file.path + " " + file.sha256.hex() + "\n");
  return all.Finish();
}

std::string ModelSha256(const std::vector<FileDigest>& files) { return DigestOfFiles(files).hex(); }

}  // namespace samebit::model
