#include "arith/reduction_tree.h"

#include <gtest/gtest.h>

#include "arith/test_support.h"

namespace samebit::arith {
namespace {

// Writes a tree as brackets: "((0-32 32-64) 64-96)". Also checks that a stack of kTreeDepthMax suffices.
std::string Brackets(const std::vector<Leaf>& leaves) {
  std::vector<std::string> stack;
  for (const Leaf& leaf : leaves) {
    stack.push_back(std::to_string(leaf.begin) + "-" + std::to_string(leaf.end));
    EXPECT_LE(stack.size(), kTreeDepthMax);
    for (uint32_t i = 0; i < leaf.merges; ++i) {
      const std::string right = stack.back();
      stack.pop_back();
      stack.back() = "(" + stack.back() + " " + right + ")";
    }
  }
  EXPECT_EQ(stack.size(), 1u);
  return stack.back();
}

TEST(Tree, splits_at_the_middle_unit_with_the_smaller_half_left) {
  EXPECT_EQ(Brackets(MakeTree({32, 32, true})), "0-32");
  EXPECT_EQ(Brackets(MakeTree({64, 32, true})), "(0-32 32-64)");
  EXPECT_EQ(Brackets(MakeTree({96, 32, true})), "(0-32 (32-64 64-96))");
  EXPECT_EQ(Brackets(MakeTree({160, 32, true})), "((0-32 32-64) (64-96 96-160))");
}

TEST(Tree, has_two_forced_levels_and_a_third_over_nodes_of_256_inputs_or_more) {
  EXPECT_EQ(MakeTree({576, 32, false}).size(), 4u);
  EXPECT_EQ(MakeTree({31 * 32, 32, false}).size(), 7u);  // 7, 8, 8 and 8 units
  EXPECT_EQ(MakeTree({32 * 32, 32, false}).size(), 8u);
  EXPECT_EQ(MakeTree({576, 64, true}).size(), 4u);  // heads of 64: 2, 2, 2 and 3 of them
}

TEST(Tree, stops_at_512_inputs_after_the_forced_levels) {
  EXPECT_EQ(MakeTree({4096, 32, true}).size(), 8u);
  EXPECT_EQ(MakeTree({4128, 32, true}).size(), 9u);   // 129 units: one leaf of 17 units is 544 inputs
  EXPECT_EQ(MakeTree({14336, 32, true}).size(), 32u);
  EXPECT_EQ(MakeTree({14336, 32, false}).size(), 8u);  // quantized weights: only the forced levels
}

TEST(Tree, the_last_unit_may_be_short_and_a_unit_is_never_cut) {
  EXPECT_EQ(Brackets(MakeTree({100, 64, true})), "(0-64 64-100)");
  EXPECT_EQ(Brackets(MakeTree({7, 32, true})), "0-7");
  for (const Leaf& leaf : MakeTree({14 * 80, 80, true})) EXPECT_EQ(leaf.begin % 80, 0u);
}

TEST(Tree, leaves_cover_every_input_once_in_order) {
  for (uint32_t unit : {32u, 64u, 80u, 128u, 256u})
    for (uint32_t inputs : {1u, 31u, 32u, 33u, 576u, 640u, 1536u, 4096u, 11008u, 14336u, 28672u, 262144u})
      for (bool split : {true, false}) {
        const auto leaves = MakeTree({inputs, unit, split});
        uint32_t next = 0;
        for (const Leaf& leaf : leaves) {
          ASSERT_EQ(leaf.begin, next);
          ASSERT_LT(leaf.begin, leaf.end);
          if (split && unit <= 512) {
            ASSERT_LE(leaf.end - leaf.begin, kFloatLeafInputsMax);
          }
          next = leaf.end;
        }
        ASSERT_EQ(next, inputs);
        Brackets(leaves);
      }
}

// The tensor-parallel promise: every rank's own subtree, added left + right up the tree, is the whole tree.
std::string Joined(const TreeShape& shape, uint32_t ranks, uint32_t first, uint32_t count) {
  if (count == 1) return Brackets(MakeTreeOfRank(shape, ranks, first));
  return "(" + Joined(shape, ranks, first, count / 2) + " " + Joined(shape, ranks, first + count / 2, count / 2) + ")";
}

TEST(Tree, subtrees_of_1_2_4_and_8_ranks_join_to_the_whole_tree_for_every_unit_count) {
  int joined = 0;
  for (uint32_t units = 1; units <= 300; ++units)
    for (bool split : {true, false}) {
      const TreeShape shape{units * 32 - units % 3, 32, split};
      for (uint32_t ranks : {1u, 2u, 4u, 8u}) {
        bool exists = true;
        for (uint32_t rank = 0; rank < ranks; ++rank) exists &= !MakeTreeOfRank(shape, ranks, rank).empty();
        ASSERT_EQ(exists, units >= (ranks == 8 ? 32 : ranks)) << units << " units on " << ranks;
        if (!exists) continue;
        ASSERT_EQ(Joined(shape, ranks, 0, ranks), Brackets(MakeTree(shape))) << units << " units on " << ranks;
        ++joined;
      }
    }
  EXPECT_EQ(joined, 2 * (300 + 299 + 297 + 269));
}

TEST(Tree, order_shows_in_the_bits) {  // negative control: a plain chain is another number
  testing::Random random(6);
  const auto x = random.Normals(4096);
  float chain = 0, stack[kTreeDepthMax];
  for (float value : x) chain += value;
  uint32_t size = 0;
  for (const Leaf& leaf : MakeTree({4096, 32, true})) {
    float acc = 0;
    for (uint32_t k = leaf.begin; k < leaf.end; ++k) acc += x[k];
    stack[size++] = acc;
    for (uint32_t i = 0; i < leaf.merges; ++i, --size) stack[size - 2] += stack[size - 1];
  }
  EXPECT_NE(chain, stack[0]);
  EXPECT_NEAR(chain, stack[0], 1e-3);
}

}  // namespace
}  // namespace samebit::arith
