// One digest for a model's files, equal for every copy of them.
#pragma once

#include <string>
#include <vector>

#include "base/digest.h"
#include "model/model.h"

namespace samebit::model {

// One file: its SHA-256. A folder: SHA-256 over the lines "<relative path> <sha256>\n", by path.
Sha256Digest DigestOfFiles(const std::vector<FileDigest>& files);
// The same in hex.
std::string ModelSha256(const std::vector<FileDigest>& files);

}  // namespace samebit::model
