// The bits of samebit-arith/1 in one file: for each operation the SHA-256 of its results on fixed pseudo-random inputs.
//
//   arith_golden FILE           recomputes and compares; prints each line that differs; exit 1 if any does
//   arith_golden --write FILE   writes the file anew (a change that moves a bit: a new version of the law)
//
// A plain program without GoogleTest or OpenSSL, so that every compiler and an emulated processor can run it.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "arith/attention.h"
#include "arith/elementary.h"
#include "arith/environment.h"
#include "arith/linear.h"
#include "arith/log_probability.h"
#include "arith/mixture.h"
#include "arith/norm.h"
#include "arith/rope.h"
#include "arith/sampling.h"
#include "arith/sentence_vector.h"
#include "arith/test_support.h"
#include "base/sha256_portable.h"

namespace samebit::arith {
namespace {

using testing::Random;
using testing::RandomBlocks;

class Digest {
 public:
  void Add(uint64_t value) { hash_.Update(&value, sizeof value); }  // every supported machine is little endian
  void Add(uint32_t value) { Add(uint64_t{value}); }
  void Add(int32_t value) { Add(static_cast<uint64_t>(static_cast<int64_t>(value))); }
  // A NaN's sign and payload differ between processors and are not part of the law.
  void Add(float value) { Add(value != value ? uint32_t{0x7fc00000} : BitsOf(value)); }
  void Add(double value) { Add(std::bit_cast<uint64_t>(value)); }
  template <class Item>
  void Add(const std::vector<Item>& items) {
    for (const Item& item : items) Add(item);
  }
  std::string Hex() {
    std::string text;
    for (uint8_t byte : hash_.Finish()) {
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02x", byte);
      text += digits;
    }
    return text;
  }

 private:
  PortableSha256 hash_;
};

std::string g_lines;

void Line(const std::string& name, const std::function<void(Digest&, Random&)>& compute) {
  Digest digest;
  Random random(name.size() * 1000003 + static_cast<unsigned char>(name.back()));  // frozen with the file
  compute(digest, random);
  g_lines += name + " " + digest.Hex() + "\n";
}

void Environment() {
  Line("fma_random_bits", [](Digest& digest, Random& random) {
    for (int i = 0; i < 20000; ++i) {
      const float a = FloatOf(random.Bits32()), b = FloatOf(random.Bits32()), c = FloatOf(random.Bits32());
      digest.Add(Fma(a, b, c));
    }
  });
  Line("fma_near_cancellation", [](Digest& digest, Random& random) {
    for (int i = 0; i < 20000; ++i) {
      const float a = random.Signed(), b = random.Signed();
      const float product = a * b;
      digest.Add(Fma(a, b, -FloatOf(BitsOf(product) ^ random.Below(4))));
    }
  });
  Line("soft_fma_random_bits", [](Digest& digest, Random& random) {
    for (int i = 0; i < 20000; ++i) {
      const float a = FloatOf(random.Bits32()), b = FloatOf(random.Bits32()), c = FloatOf(random.Bits32());
      digest.Add(SoftFma(a, b, c));
    }
  });
}

void NumberFormats() {
  Line("f16_to_f32", [](Digest& digest, Random&) {
    for (uint32_t half = 0; half < 65536; ++half) digest.Add(F16ToF32(static_cast<uint16_t>(half)));
  });
  Line("f32_to_f16", [](Digest& digest, Random&) {
    for (uint64_t bits = 0; bits <= 0xffffffff; bits += 131071) {
      const float value = FloatOf(static_cast<uint32_t>(bits));
      digest.Add(value != value ? uint32_t{0x7e00} : uint32_t{F32ToF16(value)});
    }
  });
  for (int type = 0; type < kWeightTypeCount; ++type)
    Line("dequantize/" + std::string(Format(static_cast<WeightType>(type)).name), [&](Digest& digest, Random& random) {
      const auto bytes = RandomBlocks(static_cast<WeightType>(type), 2048, random);
      std::vector<float> out(2048);
      Dequantize(static_cast<WeightType>(type), bytes.data(), 2048, out.data());
      digest.Add(out);
    });
}

void Linear() {
  Line("tree", [](Digest& digest, Random&) {
    for (uint32_t inputs = 1; inputs < 20000; inputs += 173)
      for (uint32_t unit : {32u, 64u, 80u, 256u})
        for (bool split : {true, false})
          for (const Leaf& leaf : MakeTree({inputs, unit, split}))
            digest.Add(std::vector{leaf.begin, leaf.end, leaf.merges});
  });
  Line("quantize_row", [](Digest& digest, Random& random) {
    for (int row = -120; row < 120; ++row) {
      auto x = random.Normals(64, FloatOf(static_cast<uint32_t>(127 + row) << 23 & 0x7f800000));
      std::vector<int8_t> codes(64);
      std::vector<float> scales(2), sums(2);
      std::vector<int32_t> half_sums(4);
      digest.Add(uint32_t{QuantizeRow(x.data(), 64, {codes.data(), scales.data(), sums.data(), half_sums.data()})});
      for (int8_t code : codes) digest.Add(int32_t{code});
      digest.Add(scales), digest.Add(sums), digest.Add(half_sums);
    }
  });
  for (int t = 0; t < kWeightTypeCount; ++t) {
    const auto type = static_cast<WeightType>(t);
    const WeightFormat& format = Format(type);
    for (uint32_t columns : {256u, 2304u, 5120u, 1000u}) {
      if (columns % format.block_elements != 0) continue;
      Line("linear/" + std::string(format.name) + "/K" + std::to_string(columns), [&](Digest& digest, Random& random) {
        const uint32_t rows = 4, m = 2;
        const auto bytes = RandomBlocks(type, uint64_t{rows} * columns, random);
        const auto x = random.Normals(m * columns, 2.0f);
        std::vector<float> y(m * rows);
        const LinearWeights weights{type, rows, columns, bytes.data()};
        LinearReference(weights, MakeTree(LinearTreeShape(type, columns)), x.data(), m, y.data());
        digest.Add(y);
      });
    }
  }
}

template <class Function>
void ElementaryLine(const std::string& name, uint32_t first, uint32_t last, Function function) {
  Line(name, [&](Digest& digest, Random&) {
    for (uint64_t bits = first; bits <= last; bits += 30011) digest.Add(function(FloatOf(static_cast<uint32_t>(bits))));
  });
}

void Elementary() {
  ElementaryLine("exp_neg", 0x80000000u, 0xff800000u, ExpNeg);
  ElementaryLine("exp/positive", 0, 0x7f800000u, Exp);
  ElementaryLine("exp/negative", 0x80000000u, 0xff800000u, Exp);
  ElementaryLine("silu/positive", 0, 0x7f7fffffu, Silu);
  ElementaryLine("silu/negative", 0x80000000u, 0xff7fffffu, Silu);
  ElementaryLine("gelu/positive", 0, 0x7f7fffffu, GeluTanh);
  ElementaryLine("gelu/negative", 0x80000000u, 0xff7fffffu, GeluTanh);
  ElementaryLine("sqrt", 0, 0x7f7fffffu, Sqrt);
  Line("exp64", [](Digest& digest, Random& random) {
    for (int i = 0; i < 20000; ++i) digest.Add(Exp64(random.Signed() * (i % 2 ? 700.0 : 10.0)));
  });
  Line("log64", [](Digest& digest, Random& random) {
    for (int i = 0; i < 20000; ++i) {
      const uint64_t fraction = random.Bits64() & 0x000fffffffffffffull;
      const uint64_t exponent = 1 + random.Below(2046);
      digest.Add(Log64(std::bit_cast<double>(fraction | exponent << 52)));
    }
  });
  Line("sin_cos64", [](Digest& digest, Random& random) {
    for (int i = 0; i < 20000; ++i) {
      double sine, cosine;
      SinCos64(random.Signed() * (i % 2 ? 1048576.0 : 8.0), &sine, &cosine);
      digest.Add(sine), digest.Add(cosine);
    }
  });
}

void Rows() {
  for (uint32_t n : {1u, 17u, 576u, 640u, 4096u})
    Line("rms_norm/" + std::to_string(n), [&](Digest& digest, Random& random) {
      const auto x = random.Normals(n, 3.0f), w = random.Normals(n);
      std::vector<float> out(n);
      digest.Add(uint32_t{RmsNorm(x.data(), w.data(), n, 1e-5f, out.data())});
      digest.Add(out);
    });
  using Kind = RopeScale::Kind;
  const RopeScale scales[] = {{}, {Kind::kLinear, 8}, {Kind::kLlama3, 8, 1, 4, 8192}};
  for (const RopeScale& scale : scales)
    Line("rope/" + std::to_string(static_cast<int>(scale.kind)), [&](Digest& digest, Random& random) {
      for (double base : {1e4, 1e5, 5e5, 1e6})
        for (uint32_t head : {64u, 128u, 256u}) {
          const auto frequencies = RopeFrequencies(base, head, scale);
          digest.Add(frequencies);
          for (uint32_t position : {0u, 1u, 255u, 8191u, 131071u, 1048575u}) {
            std::vector<float> cosines(head / 2), sines(head / 2);
            RopeAngles(frequencies, position, cosines.data(), sines.data());
            auto x = random.Normals(head);
            ApplyRope(x.data(), head, cosines.data(), sines.data());
            digest.Add(cosines), digest.Add(sines), digest.Add(x);
          }
        }
    });
  for (uint32_t head : {64u, 128u, 256u})
    Line("attention/" + std::to_string(head), [&](Digest& digest, Random& random) {
      const auto query = random.Normals(head, 0.3f);
      std::vector<float> running_out(head), next_out(head), out(head);
      AttentionPart running{0, 0, running_out.data()}, next{0, 0, next_out.data()};
      const uint32_t ranges[][2] = {{3, 256}, {0, 256}, {0, 1}, {0, 77}};
      for (int split = 0; split < 4; ++split) {
        const auto keys = random.Normals(256 * head), values = random.Normals(256 * head);
        AttentionPart* part = split == 0 ? &running : &next;
        AttentionSplit(query.data(), head, keys.data(), values.data(), ranges[split][0], ranges[split][1], part);
        digest.Add(part->max), digest.Add(part->sum);
        if (split > 0) MergeAttention(&running, next, head);
      }
      FinishAttention(running, head, out.data());
      digest.Add(running.max), digest.Add(running.sum), digest.Add(out);
    });
  Line("residual_and_experts", [](Digest& digest, Random& random) {
    auto x = random.Normals(512);
    const auto y = random.Normals(512);
    AddResidual(x.data(), y.data(), 512);
    AddExpert(x.data(), y.data(), random.Signed(), 512);
    digest.Add(x);
    digest.Add(ChooseExperts(y.data(), 512, 8));
  });
}

void Logits() {
  Line("candidate_key", [](Digest& digest, Random&) {
    for (uint64_t bits = 0; bits <= 0xffffffff; bits += 100003)
      if ((bits & 0x7f800000) != 0x7f800000)
        digest.Add(CandidateKey(FloatOf(static_cast<uint32_t>(bits)), static_cast<uint32_t>(bits)));
  });
  Line("sampling_weight", [](Digest& digest, Random& random) {
    for (int i = 0; i < 20000; ++i) digest.Add(SamplingWeight(-30.0f * (1.0f + random.Signed()) / 2.0f, 0.0f, 1.25f));
  });
  Line("random_bits", [](Digest& digest, Random& random) {
    for (int i = 0; i < 20000; ++i) {
      const uint64_t seed = random.Bits64(), sample = random.Bits64();
      const uint64_t bits = RandomBits(seed, sample, random.Bits32(), RandomStream::kToken);
      digest.Add(bits), digest.Add(DrawBelow(bits, sample >> 12)), digest.Add(SeedOfAttempt(seed, random.Bits32()));
    }
  });
  for (uint32_t n : {1u, 1023u, 1025u, 49152u})
    Line("log_softmax/" + std::to_string(n), [&](Digest& digest, Random& random) {
      const auto logits = random.Normals(n, 4.0f);
      const LogSoftmax normalizer = LogSoftmaxOf(logits.data(), n);
      digest.Add(normalizer.max), digest.Add(normalizer.log_total);
      for (uint32_t i = 0; i < n; i += 7) digest.Add(LogProbability(normalizer, logits[i]));
    });
}

void SentenceVectors() {
  ElementaryLine("gelu_erf/positive", 0, 0x7f7fffffu, GeluErf);
  ElementaryLine("gelu_erf/negative", 0x80000000u, 0xff7fffffu, GeluErf);
  for (uint32_t n : {1u, 17u, 384u, 768u, 4096u})
    Line("layer_norm/" + std::to_string(n), [&](Digest& digest, Random& random) {
      const auto x = random.Normals(n, 3.0f), w = random.Normals(n), b = random.Normals(n);
      std::vector<float> out(n);
      digest.Add(uint32_t{LayerNorm(x.data(), w.data(), b.data(), n, 1e-12f, out.data())});
      digest.Add(out);
    });
  Line("sentence_vector", [](Digest& digest, Random& random) {
    for (uint32_t n : {1u, 17u, 384u}) {
      std::vector<double> sums(n);
      std::vector<float> row(n), out(n);
      for (uint32_t tokens = 1; tokens < 300; ++tokens) {
        const auto word = random.Normals(n), type = random.Normals(n), position = random.Normals(n);
        AddEmbeddings(word.data(), type.data(), position.data(), n, row.data());
        AddToMean(row.data(), n, sums.data());
        if (tokens % 7 != 1) continue;
        FinishMean(sums.data(), tokens, n, out.data());
        digest.Add(out);
        digest.Add(uint32_t{NormalizeLength(out.data(), n, out.data())});
        digest.Add(out);
      }
    }
  });
}

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

int Compare(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream stored;
  stored << file.rdbuf();
  const auto expected = SplitLines(stored.str()), found = SplitLines(g_lines);
  int differences = 0;
  for (size_t i = 0; i < std::max(expected.size(), found.size()); ++i) {
    const std::string want = i < expected.size() ? expected[i] : "(no line)";
    const std::string have = i < found.size() ? found[i] : "(no line)";
    if (want == have) continue;
    ++differences;
    std::cout << "expected " << want << "\nfound    " << have << "\n";
  }
  std::cout << found.size() << " lines, " << differences << " differ from " << path << "\n";
  return differences == 0 ? 0 : 1;
}

int Main(int argc, char** argv) {
  const bool write = argc == 3 && std::strcmp(argv[1], "--write") == 0;
  if (!write && argc != 2) {
    std::cerr << "usage: arith_golden FILE | arith_golden --write FILE\n";
    return 2;
  }
  EnterFloatEnvironment();
  g_lines = std::string("version ") + kArithmeticVersion + "\n";
  g_lines += std::string("environment ") + (FloatEnvironmentHolds() ? "holds" : "broken") + "\n";
  Environment();
  NumberFormats();
  Linear();
  Elementary();
  Rows();
  Logits();
  SentenceVectors();
  if (!write) return Compare(argv[1]);
  std::ofstream file(argv[2], std::ios::binary);
  file << g_lines;
  return file.flush() ? 0 : 2;
}

}  // namespace
}  // namespace samebit::arith

int main(int argc, char** argv) { return samebit::arith::Main(argc, argv); }
