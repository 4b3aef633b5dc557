#include "engine/kv_cache.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace samebit::engine {

namespace {

KvCache::PrefixKey ChainKey(const KvCache::PrefixKey& before, std::span<const TokenId> tokens) {
  Sha256 hash;
  hash.Update(before.bytes.data(), before.bytes.size());
  hash.Update(tokens.data(), tokens.size_bytes());
  return hash.Finish();
}

}  // namespace

KvCache::KvCache(const KvCacheShape& shape, bool index_prefixes)
    : shape_(shape),
      index_prefixes_(index_prefixes),
      head_bytes_(shape.head.bytes()),
      page_bytes_(head_bytes_ * shape.kv_heads * shape.layers),
      page_count_(static_cast<uint32_t>(std::min<uint64_t>(shape.budget_bytes / page_bytes_, UINT32_MAX))),
      memory_(kernels::AllocateAligned(page_bytes_ * page_count_)),
      pages_(page_count_) {
  for (PageId page = page_count_; page > 0; --page) free_.push_back(page - 1);
}

std::optional<PageId> KvCache::Allocate() {
  PageId page;
  if (!free_.empty()) {
    page = free_.back();
    free_.pop_back();
  } else if (!idle_.empty()) {
    page = idle_.front();
    idle_.pop_front();
    Forget(page);
  } else {
    return std::nullopt;
  }
  CHECK(pages_[page].references == 0);
  pages_[page].references = 1;
  used_pages_max_ = std::max(used_pages_max_, page_count_ - static_cast<uint32_t>(free_.size()));
  return page;
}

void KvCache::AddReference(PageId page) {
  Page& entry = pages_[page];
  if (entry.references++ == 0) idle_.erase(entry.idle_position);
}

void KvCache::Release(PageId page) {
  Page& entry = pages_[page];
  CHECK(entry.references > 0);
  if (--entry.references > 0) return;
  if (entry.key.has_value()) {
    entry.idle_position = idle_.insert(idle_.end(), page);
  } else {
    free_.push_back(page);
  }
}

void KvCache::CopyPage(PageId from, PageId to) {
  std::memcpy(memory_.get() + to * page_bytes_, memory_.get() + from * page_bytes_, page_bytes_);
}

KvCache::Prefix KvCache::FindPrefix(std::span<const TokenId> tokens, uint32_t pages_max) {
  Prefix prefix;
  if (!index_prefixes_) return prefix;
  while (prefix.pages.size() < pages_max && (prefix.pages.size() + 1) * page_tokens() <= tokens.size()) {
    const PrefixKey key = ChainKey(prefix.key, tokens.subspan(prefix.pages.size() * page_tokens(), page_tokens()));
    const auto entry = index_.find(key);
    if (entry == index_.end()) break;
    AddReference(entry->second);
    prefix.pages.push_back(entry->second);
    prefix.key = key;
  }
  return prefix;
}

KvCache::PrefixKey KvCache::Index(const PrefixKey& before, std::span<const TokenId> tokens, PageId page) {
  if (!index_prefixes_) return {};
  const PrefixKey key = ChainKey(before, tokens);
  // An equal page may be indexed already; one is enough.
  if (!pages_[page].key.has_value() && index_.emplace(key, page).second) pages_[page].key = key;
  return key;
}

void KvCache::Forget(PageId page) {
  index_.erase(*pages_[page].key);
  pages_[page].key.reset();
}

void KvCache::DropIndex() {
  for (PageId page : idle_) free_.push_back(page);
  idle_.clear();
  for (auto& [key, page] : index_) pages_[page].key.reset();
  index_.clear();
}

}  // namespace samebit::engine
