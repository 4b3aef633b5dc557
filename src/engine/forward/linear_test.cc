// The linear runner: ranks and workers of one layer, against arith's reference.
#include "engine/forward/linear.h"

#include <gtest/gtest.h>

#include <cstring>

#include "arith/test_support.h"

namespace samebit::engine {
namespace {

using arith::WeightType;

struct Layer {
  std::vector<uint8_t> stored;
  LinearWeights weights;
  std::vector<float> x;
  kernels::QuantizedRows quantized;
  std::vector<float> truth;
};

Layer MakeLayer(WeightType type, uint32_t rows, uint32_t columns, uint32_t m) {
  arith::testing::Random random(rows + columns);
  Layer layer;
  layer.stored = arith::testing::RandomBlocks(type, uint64_t{rows} * columns, random);
  layer.weights.matrix = kernels::PackedMatrix(type, rows, columns);
  layer.weights.matrix.PackPanels(layer.stored.data(), {}, 0, layer.weights.matrix.panels());
  layer.weights.shape = arith::LinearTreeShape(type, columns);
  layer.weights.tree = arith::MakeTree(layer.weights.shape);
  layer.x = random.Normals(size_t{m} * columns);
  layer.truth.resize(size_t{m} * rows);
  EXPECT_TRUE(arith::LinearReference({type, rows, columns, layer.stored.data()}, layer.weights.tree, layer.x.data(), m,
                                     layer.truth.data()));
  if (arith::Format(type).quantized) {
    layer.quantized = kernels::QuantizedRows(m, columns);
    layer.quantized.Reshape(columns);
    for (uint32_t i = 0; i < m; ++i)
      EXPECT_TRUE(arith::QuantizeRow(&layer.x[size_t{i} * columns], columns, layer.quantized.row(i)));
  }
  return layer;
}

std::vector<float> Output(const Layer& layer, const EngineOptions& options, Share share, uint32_t m) {
  const uint32_t rows = layer.weights.matrix.rows(), columns = layer.weights.matrix.columns();
  std::vector<float> y(size_t{m} * rows);
  LinearRunner runner(kernels::Kernels(options.isa), options, m, rows);
  kernels::Team team(options.threads);
  team.Run([&](kernels::Worker& worker) {
    runner.Run(worker, layer.weights, share, {layer.x.data(), columns, &layer.quantized, 0, m}, y.data(), rows);
  });
  return y;
}

TEST(LinearRunner, one_two_four_and_eight_ranks_equal_the_law) {
  for (WeightType type :
       {WeightType::kF32, WeightType::kBf16, WeightType::kQ4_1, WeightType::kQ8_0, WeightType::kQ6_K}) {
    const uint32_t columns = 2048, m = 5;
    const Layer layer = MakeLayer(type, 70, columns, m);
    for (kernels::Isa isa : kernels::AvailableIsas()) {
      for (uint32_t ranks : {1u, 2u, 4u, 8u}) {
        for (uint32_t threads : {1u, 3u}) {
          EngineOptions options;
          options.isa = isa;
          options.tensor_parallel = ranks;
          options.threads = threads;
          const std::vector<float> y = Output(layer, options, Share::kRows, m);
          EXPECT_EQ(std::memcmp(y.data(), layer.truth.data(), y.size() * sizeof(float)), 0)
              << arith::Format(type).name << ", " << kernels::IsaName(isa) << ", ranks " << ranks << ", threads "
              << threads;
        }
      }
    }
  }
}

TEST(LinearRunner, the_order_dependent_arm_differs) {
  const Layer layer = MakeLayer(WeightType::kF32, 70, 2048, 5);
  EngineOptions options;
  options.reduction = Reduction::kControl;
  const std::vector<float> y = Output(layer, options, Share::kColumns, 5);
  EXPECT_NE(std::memcmp(y.data(), layer.truth.data(), y.size() * sizeof(float)), 0);
}

TEST(LinearRunner, workers_own_whole_blocks_of_32_columns_and_leave_none_out) {
  for (uint32_t rows : {16u, 32u, 48u, 70u, 96u, 1000u}) {
    const kernels::PackedMatrix matrix(WeightType::kF32, rows, 32);
    for (uint32_t count = 1; count <= 7; ++count) {
      uint32_t next = 0;
      for (uint32_t index = 0; index < count; ++index) {
        const kernels::Range columns = ColumnsOf(kernels::Worker(nullptr, index, count), matrix);
        EXPECT_EQ(columns.begin, next);
        EXPECT_EQ(columns.begin % 32 == 0 || columns.empty(), true);
        next = columns.end;
      }
      EXPECT_EQ(next, rows);
    }
  }
}

}  // namespace
}  // namespace samebit::engine
