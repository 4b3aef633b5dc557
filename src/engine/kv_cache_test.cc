#include "engine/kv_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace samebit::engine {
namespace {

constexpr uint32_t kPageTokens = 16;

KvCacheShape Shape(uint32_t pages) {
  KvCacheShape shape;
  shape.layers = 2;
  shape.kv_heads = 3;
  shape.head = {kernels::CacheType::kF16, 16, kPageTokens};
  shape.budget_bytes = pages * uint64_t{shape.head.bytes()} * shape.layers * shape.kv_heads;
  return shape;
}

std::vector<TokenId> Tokens(uint32_t pages, TokenId first) {
  std::vector<TokenId> tokens(pages * kPageTokens);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

// Computes and indexes whole pages of `tokens`, as a sequence would; returns its table.
std::vector<PageId> Fill(KvCache& cache, std::span<const TokenId> tokens) {
  std::vector<PageId> pages;
  KvCache::PrefixKey key{};
  for (size_t at = 0; at < tokens.size(); at += kPageTokens) {
    pages.push_back(*cache.Allocate());
    key = cache.Index(key, tokens.subspan(at, kPageTokens), pages.back());
  }
  return pages;
}

void ReleaseAll(KvCache& cache, const std::vector<PageId>& pages) {
  for (PageId page : pages) cache.Release(page);
}

TEST(KvCache, keeps_its_budget) {
  KvCacheShape shape = Shape(5);
  shape.budget_bytes += 100;  // not enough for a sixth
  KvCache cache(shape, true);
  EXPECT_EQ(cache.page_count(), 5u);
  EXPECT_LE(cache.page_count() * cache.page_bytes(), shape.budget_bytes);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(cache.Allocate().has_value());
  EXPECT_FALSE(cache.Allocate().has_value());
  EXPECT_EQ(cache.free_pages(), 0u);
  EXPECT_EQ(cache.used_pages_max(), 5u);
}

TEST(KvCache, frees_a_page_with_its_last_reference) {
  KvCache cache(Shape(2), true);
  const PageId page = *cache.Allocate();
  cache.AddReference(page);
  cache.Release(page);
  EXPECT_EQ(cache.free_pages(), 1u);
  cache.Release(page);
  EXPECT_EQ(cache.free_pages(), 2u);
  EXPECT_EQ(cache.used_pages_max(), 1u);
}

TEST(KvCache, heads_of_all_pages_lie_apart) {
  KvCache cache(Shape(3), false);
  const size_t head_bytes = Shape(3).head.bytes();
  std::vector<std::byte*> heads;
  for (int i = 0; i < 3; ++i) {
    const PageId page = *cache.Allocate();
    for (uint32_t layer = 0; layer < 2; ++layer)
      for (uint32_t head = 0; head < 3; ++head) heads.push_back(cache.Head(page, layer, head));
  }
  std::sort(heads.begin(), heads.end());
  for (size_t i = 1; i < heads.size(); ++i) EXPECT_GE(heads[i] - heads[i - 1], static_cast<ptrdiff_t>(head_bytes));
}

TEST(KvCache, copies_every_byte_of_a_page) {
  KvCache cache(Shape(2), false);
  const PageId from = *cache.Allocate(), to = *cache.Allocate();
  for (size_t i = 0; i < cache.page_bytes(); ++i) cache.Head(from, 0, 0)[i] = static_cast<std::byte>(i * 7);
  std::memset(cache.Head(to, 0, 0), 0, cache.page_bytes());
  cache.CopyPage(from, to);
  EXPECT_EQ(std::memcmp(cache.Head(from, 0, 0), cache.Head(to, 0, 0), cache.page_bytes()), 0);
}

TEST(PrefixIndex, finds_whole_pages_of_the_longest_known_prefix) {
  KvCache cache(Shape(8), true);
  const std::vector<TokenId> tokens = Tokens(3, 0);
  const std::vector<PageId> pages = Fill(cache, tokens);
  ReleaseAll(cache, pages);
  EXPECT_EQ(cache.free_pages(), 8u);  // idle pages can be taken
  const KvCache::Prefix found = cache.FindPrefix(tokens, 8);
  EXPECT_EQ(found.pages, pages);
  EXPECT_EQ(cache.free_pages(), 5u);
  const KvCache::Prefix two = cache.FindPrefix(std::span(tokens).first(3 * kPageTokens - 1), 8);
  EXPECT_EQ(two.pages, std::vector<PageId>(pages.begin(), pages.begin() + 2));
  EXPECT_EQ(cache.FindPrefix(tokens, 1).pages.size(), 1u);
  EXPECT_NE(two.key, found.key);
}

TEST(PrefixIndex, a_page_counts_only_after_its_own_prefix) {
  KvCache cache(Shape(8), true);
  const std::vector<TokenId> tokens = Tokens(2, 0);
  ReleaseAll(cache, Fill(cache, tokens));
  EXPECT_TRUE(cache.FindPrefix(std::span(tokens).subspan(kPageTokens), 8).pages.empty());
  std::vector<TokenId> changed = tokens;
  changed[3] += 1;
  EXPECT_TRUE(cache.FindPrefix(changed, 8).pages.empty());
  changed = tokens;
  changed[kPageTokens] += 1;
  EXPECT_EQ(cache.FindPrefix(changed, 8).pages.size(), 1u);
}

TEST(PrefixIndex, gives_up_the_least_recently_used_page_first) {
  KvCache cache(Shape(3), true);
  const std::vector<TokenId> a = Tokens(1, 0), b = Tokens(1, 100), c = Tokens(1, 200);
  for (const auto* tokens : {&a, &b, &c}) ReleaseAll(cache, Fill(cache, *tokens));
  ReleaseAll(cache, cache.FindPrefix(a, 1).pages);  // a is now the newest, b the oldest
  EXPECT_TRUE(cache.Allocate().has_value());
  EXPECT_TRUE(cache.FindPrefix(b, 1).pages.empty());
  EXPECT_EQ(cache.FindPrefix(a, 1).pages.size(), 1u);
  EXPECT_EQ(cache.FindPrefix(c, 1).pages.size(), 1u);
  EXPECT_FALSE(cache.Allocate().has_value()) << "a page in use was given away";
}

TEST(PrefixIndex, keeps_one_of_two_equal_pages) {
  KvCache cache(Shape(2), true);
  const std::vector<TokenId> tokens = Tokens(1, 0);
  const std::vector<PageId> first = Fill(cache, tokens), second = Fill(cache, tokens);
  ReleaseAll(cache, second);
  EXPECT_EQ(cache.FindPrefix(tokens, 1).pages, first);
  ReleaseAll(cache, first);
  ReleaseAll(cache, first);
  EXPECT_EQ(cache.free_pages(), 2u);
}

TEST(PrefixIndex, forgets_everything_and_takes_no_page_from_those_who_run) {
  KvCache cache(Shape(2), true);
  const std::vector<TokenId> idle = Tokens(1, 0), used = Tokens(1, 100);
  ReleaseAll(cache, Fill(cache, idle));
  const std::vector<PageId> pages = Fill(cache, used);
  cache.DropIndex();
  EXPECT_TRUE(cache.FindPrefix(idle, 1).pages.empty());
  EXPECT_TRUE(cache.FindPrefix(used, 1).pages.empty());
  EXPECT_EQ(cache.free_pages(), 1u);
  ReleaseAll(cache, pages);
  EXPECT_EQ(cache.free_pages(), 2u);
}

TEST(PrefixIndex, is_silent_where_it_is_off) {
  KvCache cache(Shape(2), false);
  const std::vector<TokenId> tokens = Tokens(1, 0);
  ReleaseAll(cache, Fill(cache, tokens));
  EXPECT_TRUE(cache.FindPrefix(tokens, 1).pages.empty());
  EXPECT_EQ(cache.free_pages(), 2u);
}

}  // namespace
}  // namespace samebit::engine
