// The paged KV cache: a fixed pool of pages, reference counts, and the prefix index that finds pages again.
//
// A page holds `page_tokens` tokens of every layer and KV head. A sequence's table maps its logical pages to physical
// ones. A full page whose content is known by its tokens is indexed under the hash of all tokens up to its end; pages
// that nobody uses stay in the index, least recently used first out, until their memory is needed.
// Which page a token lies in cannot show in the bits (rule A). Driven by the engine's thread; workers read and write
// inside pages that the step owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/digest.h"
#include "base/types.h"
#include "kernels/kernels.h"

namespace samebit::engine {

using PageId = uint32_t;

struct KvCacheShape {
  uint32_t layers = 0;
  uint32_t kv_heads = 0;
  kernels::HeadPage head;  // type, head_size, page_tokens
  uint64_t budget_bytes = 0;
};

class KvCache {
 public:
  KvCache(const KvCacheShape& shape, bool index_prefixes);

  uint32_t page_tokens() const { return shape_.head.page_tokens; }
  uint32_t page_count() const { return page_count_; }
  size_t page_bytes() const { return page_bytes_; }
  // Pages that Allocate could give now.
  uint32_t free_pages() const { return static_cast<uint32_t>(free_.size() + idle_.size()); }
  uint32_t used_pages_max() const { return used_pages_max_; }

  // A page with one reference, or nullopt if all are in use. Its content is unspecified.
  std::optional<PageId> Allocate();
  void AddReference(PageId page);
  // Drops one reference; an unused page goes to the index's idle list or becomes free.
  void Release(PageId page);

  // Where one layer's KV head lies in a page.
  std::byte* Head(PageId page, uint32_t layer, uint32_t kv_head) {
    return memory_.get() + page * page_bytes_ + (size_t{layer} * shape_.kv_heads + kv_head) * head_bytes_;
  }
  void CopyPage(PageId from, PageId to);

  // Key of the prefix that ends with a page: SHA-256 over (key of the page before, the page's tokens). A collision
  // would hand one request another's cache, so the hash is a cryptographic one. The empty prefix has the zero key.
  using PrefixKey = Sha256Digest;

  struct Prefix {
    std::vector<PageId> pages;
    PrefixKey key{};
  };
  // Indexed pages that hold the longest known prefix of `tokens`, whole pages only, at most `pages_max`; each gets a
  // reference. Empty where indexing is off.
  Prefix FindPrefix(std::span<const TokenId> tokens, uint32_t pages_max);
  // Tells the index that `page` holds `tokens` (page_tokens of them, all computed) after the prefix `before`.
  // Returns the key of the prefix that ends with this page.
  PrefixKey Index(const PrefixKey& before, std::span<const TokenId> tokens, PageId page);
  // Forgets all indexed pages that are idle, and the index of the others.
  void DropIndex();

 private:
  struct Page {
    uint32_t references = 0;
    std::optional<PrefixKey> key;            // present while indexed
    std::list<PageId>::iterator idle_position;  // valid while idle
  };
  void Forget(PageId page);

  KvCacheShape shape_;
  bool index_prefixes_;
  size_t head_bytes_;
  size_t page_bytes_;
  uint32_t page_count_;
  uint32_t used_pages_max_ = 0;
  kernels::AlignedBytes memory_;
  std::vector<Page> pages_;
  std::vector<PageId> free_;
  std::list<PageId> idle_;  // indexed and unreferenced, oldest first
  std::map<PrefixKey, PageId> index_;
};

}  // namespace samebit::engine
