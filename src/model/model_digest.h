// One digest for a model's files, equal for every copy of them.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"

namespace samebit::verify {

// One file: its SHA-256. A folder: SHA-256 over the lines "<relative path> <sha256>\n", by path. Hex.
std::string ModelSha256(const std::vector<model::FileDigest>& files);

}  // namespace samebit::verify
