// The file form of a model's packed matrices, so that a later process can map them instead of packing again.
//
// For: cli (`--packed-cache`), which opens, maps and writes; nothing here touches a file. Not for: norms, biases and the
// configuration, which are small and always come from the model.
//
// Nothing in such a file is believed. All that its header may say follows from the model (an open one, whose files were
// digested) and from the layout version: it is computed here and compared byte for byte, so no count, size or offset is
// ever read from the file. What only the packer knows, the SHA-256 of the panels, is checked over every byte.
// The digests find every accident and every mistake, not a forger who may write to the folder: he could have written
// the model as well (world::MappedFile::OpenOwn refuses files of strangers).
//
//     0      "samebit\n", u32 file version, u32 layout version, SHA-256 of the model, u64 bytes of the file,
//            u64 begin of the panels, u32 matrices, u32 chunks
//     72     per matrix: u32 role, layer, weight type, rows, columns, 0, u64 offset, u64 bytes
//     ...    per chunk: SHA-256
//     ...    zeros, then SHA-256 of all before: the last 32 bytes before the panels
//     begin  (a multiple of 4096) per matrix: its panels, then zeros: at least layout::kMatrixSlackBytes, and to the
//            next multiple of layout::kMatrixAlignmentBytes
//
// Numbers are little-endian. A chunk is at most 1 MiB of one matrix and its zeros, so that threads can share the work.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "engine/weights.h"
#include "model/model.h"

namespace samebit::engine {

class PackedFile {
 public:
  // model_sha256: of the files that `model` was opened from (model::DigestOfFiles).
  PackedFile(const model::Model& model, const Sha256Digest& model_sha256);

  // "<SHA-256 of the model>.packed-<file version>-<layout version>".
  const std::string& name() const { return name_; }
  uint64_t bytes() const { return bytes_; }

  // Whether `file` is this file, by every byte, read by `threads` threads. kMalformed: what differs first.
  Status Check(std::span<const std::byte> file, uint32_t threads) const;

  // The matrix of a role and layer inside a file that passed Check; `file` is its first byte, at a multiple of 64.
  kernels::PackedMatrix Matrix(const std::shared_ptr<const std::byte>& file, model::Role role, uint32_t layer) const;

  // The file as pieces to be written one after the other. They point into `weights` (of the same model) and `header`,
  // which is filled.
  std::vector<std::string_view> Write(const Weights& weights, uint32_t threads, std::string* header) const;

 private:
  struct Place {
    model::Role role;
    uint32_t layer;
    arith::WeightType type;
    uint32_t rows, columns;
    uint64_t offset, bytes;  // of the panels
    uint64_t room;           // bytes with the zeros behind
  };
  struct Chunk {
    uint32_t place;
    uint64_t begin, bytes;  // in the room of the place
  };

  uint64_t digests_begin() const;
  std::string HeaderBeforeDigests(const Sha256Digest& model_sha256) const;

  std::string name_;
  std::vector<Place> places_;
  std::vector<Chunk> chunks_;
  uint64_t panels_begin_ = 0;
  uint64_t bytes_ = 0;
  std::string before_digests_;
};

}  // namespace samebit::engine
