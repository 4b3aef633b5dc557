#include "engine/packed_file.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "kernels/layout.h"
#include "kernels/team.h"

namespace samebit::engine {
namespace {

constexpr std::string_view kMagic = "samebit\n";
constexpr uint32_t kFileVersion = 1;
constexpr uint64_t kChunkBytes = 1 << 20;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kDigestBytes = sizeof(Sha256Digest::bytes);
constexpr char kZeros[kernels::layout::kMatrixAlignmentBytes + kernels::layout::kMatrixSlackBytes] = {};

constexpr uint64_t RoundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

void Put(std::string& out, uint64_t value, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

void Put(std::string& out, const Sha256Digest& digest) {
  out.append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
}

// Work whose items threads take as they come: another thread of the process may have a core for a while.
template <class Work>
void ForEach(uint64_t items, uint32_t threads, const Work& work) {
  kernels::Team team(threads);
  std::atomic<uint64_t> next{0};
  team.Run([&](kernels::Worker&) {
    for (uint64_t item = next.fetch_add(1); item < items; item = next.fetch_add(1)) work(item);
  });
}

// What the bytes of the header are called in a message, by where they end.
struct Part {
  uint64_t end;
  const char* what;
};
constexpr Part kParts[] = {{8, "the first bytes"},      {12, "the file version"},
                           {16, "the layout version"},  {48, "the model's digest"},
                           {56, "the size of the file"}, {UINT64_MAX, "the table of matrices"}};

Error Differs(const std::string& what) { return Error{ErrorCode::kMalformed, what + " is not what this model's is"}; }

}  // namespace

PackedFile::PackedFile(const model::Model& model, const Sha256Digest& model_sha256) {
  for (const MatrixRole& matrix : MatricesOf(model)) {
    const model::Tensor& tensor = *model.Find(matrix.role, matrix.layer);
    const auto rows = static_cast<uint32_t>(tensor.rows), columns = static_cast<uint32_t>(tensor.columns);
    const uint64_t bytes = kernels::PackedMatrix::BytesOf(tensor.type, rows, columns);
    const uint64_t room =
        RoundUp(bytes + kernels::layout::kMatrixSlackBytes, kernels::layout::kMatrixAlignmentBytes);
    const auto place = static_cast<uint32_t>(places_.size());
    for (uint64_t begin = 0; begin < room; begin += kChunkBytes)
      chunks_.push_back({place, begin, std::min(kChunkBytes, room - begin)});
    places_.push_back({matrix.role, matrix.layer, tensor.type, rows, columns, bytes_, bytes, room});
    bytes_ += room;
  }
  panels_begin_ = RoundUp(digests_begin() + (chunks_.size() + 1) * kDigestBytes, kPageBytes);
  for (Place& place : places_) place.offset += panels_begin_;
  bytes_ += panels_begin_;
  before_digests_ = HeaderBeforeDigests(model_sha256);
  name_ = model_sha256.hex() + ".packed-" + std::to_string(kFileVersion) + "-" +
          std::to_string(kernels::layout::kLayoutVersion);
}

uint64_t PackedFile::digests_begin() const { return 72 + places_.size() * 40; }

std::string PackedFile::HeaderBeforeDigests(const Sha256Digest& model_sha256) const {
  std::string header(kMagic);
  Put(header, kFileVersion, 4);
  Put(header, kernels::layout::kLayoutVersion, 4);
  Put(header, model_sha256);
  Put(header, bytes_, 8);
  Put(header, panels_begin_, 8);
  Put(header, places_.size(), 4);
  Put(header, chunks_.size(), 4);
  for (const Place& place : places_) {
    Put(header, static_cast<uint32_t>(place.role), 4);
    Put(header, place.layer, 4);
    Put(header, static_cast<uint32_t>(place.type), 4);
    Put(header, place.rows, 4);
    Put(header, place.columns, 4);
    Put(header, 0, 4);
    Put(header, place.offset, 8);
    Put(header, place.bytes, 8);
  }
  CHECK(header.size() == digests_begin());
  return header;
}

Status PackedFile::Check(std::span<const std::byte> file, uint32_t threads) const {
  if (file.size() < panels_begin_)
    return Error{ErrorCode::kMalformed, "expected a header of " + std::to_string(panels_begin_) + " bytes, found " +
                                            std::to_string(file.size()) + " bytes"};
  const auto* bytes = reinterpret_cast<const char*>(file.data());
  const auto differing = std::mismatch(before_digests_.begin(), before_digests_.end(), bytes).first;
  if (differing != before_digests_.end()) {
    const auto at = static_cast<uint64_t>(differing - before_digests_.begin());
    return Differs(std::find_if(std::begin(kParts), std::end(kParts), [=](const Part& part) { return at < part.end; })
                       ->what);
  }
  if (file.size() != bytes_)
    return Error{ErrorCode::kMalformed,
                 "expected " + std::to_string(bytes_) + " bytes, found " + std::to_string(file.size())};
  const uint64_t digest_at = panels_begin_ - kDigestBytes;
  const auto is_digest_of = [](const char* stored, const void* data, uint64_t data_bytes) {
    return std::memcmp(stored, Sha256::Of(data, data_bytes).bytes.data(), kDigestBytes) == 0;
  };
  if (!is_digest_of(bytes + digest_at, bytes, digest_at)) return Differs("the digest of the header");

  const char* digests = bytes + digests_begin();
  std::atomic<uint64_t> first_bad{chunks_.size()};
  ForEach(chunks_.size(), threads, [&](uint64_t index) {
    const Chunk& chunk = chunks_[index];
    const char* data = bytes + places_[chunk.place].offset + chunk.begin;
    if (is_digest_of(digests + index * kDigestBytes, data, chunk.bytes)) return;
    uint64_t before = first_bad.load();
    while (index < before && !first_bad.compare_exchange_weak(before, index)) {
    }
  });
  if (first_bad == chunks_.size()) return {};
  const Place& place = places_[chunks_[first_bad].place];
  return Differs(std::string("the digest of matrix ") + model::RoleName(place.role) + " of layer " +
                 std::to_string(place.layer));
}

kernels::PackedMatrix PackedFile::Matrix(const std::shared_ptr<const std::byte>& file, model::Role role,
                                         uint32_t layer) const {
  const auto place = std::find_if(places_.begin(), places_.end(), [&](const Place& one) {
    return one.role == role && one.layer == layer;
  });
  CHECK(place != places_.end());
  return kernels::PackedMatrix::View(place->type, place->rows, place->columns,
                                     std::shared_ptr<const std::byte>(file, file.get() + place->offset));
}

std::vector<std::string_view> PackedFile::Write(const Weights& weights, uint32_t threads, std::string* header) const {
  std::vector<std::string_view> panels;
  for (const Place& place : places_) {
    const kernels::PackedMatrix& matrix = weights.matrix(place.role, place.layer).matrix;
    CHECK(matrix.bytes() == place.bytes && matrix.type() == place.type);
    panels.emplace_back(reinterpret_cast<const char*>(matrix.panel(0)), place.bytes);
  }
  std::vector<Sha256Digest> digests(chunks_.size());
  ForEach(chunks_.size(), threads, [&](uint64_t index) {
    const Chunk& chunk = chunks_[index];
    const uint64_t panel_bytes = places_[chunk.place].bytes;
    const uint64_t stored_end = std::min(chunk.begin + chunk.bytes, panel_bytes);
    Sha256 hash;
    if (chunk.begin < stored_end)
      hash.Update(panels[chunk.place].substr(chunk.begin, stored_end - chunk.begin));
    const uint64_t zeros = chunk.begin + chunk.bytes - std::max(stored_end, chunk.begin);
    hash.Update(kZeros, zeros);
    digests[index] = hash.Finish();
  });

  *header = before_digests_;
  for (const Sha256Digest& digest : digests) Put(*header, digest);
  header->resize(panels_begin_ - kDigestBytes);
  Put(*header, Sha256::Of(*header));
  std::vector<std::string_view> pieces = {*header};
  for (size_t i = 0; i < places_.size(); ++i) {
    pieces.push_back(panels[i]);
    pieces.emplace_back(kZeros, places_[i].room - places_[i].bytes);
  }
  return pieces;
}

}  // namespace samebit::engine
