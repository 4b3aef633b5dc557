// Rule V, sentence encoders: what goes in before the first layer and what is made of the last one.
//
//     input row     (word + token type) + position, then LayerNorm (rule N)
//     mean          per dimension a sum over the tokens ascending in binary64, from 0; divided by their count in
//                   binary64; rounded once to binary32
//     normalised    x / Max(length, 1e-12f), one division per element; length = sqrt of the sum of squares, which runs
//                   in 16 lanes as in rule N
// The other poolings (the first token's row, the last token's row) compute nothing. A text's vector depends on its own
// tokens alone: there is no padding, so no mask.
//
// Attention between the layers is rule A with every token of the text visible to each of its tokens, keys and values
// kept as binary32. A linear layer with bias is rule L or Q and then one addition.
#pragma once

#include <cstdint>

namespace samebit::arith {

// out [n] = (word [n] + type [n]) + position [n].
void AddEmbeddings(const float* word, const float* type, const float* position, uint32_t n, float* out);

// sums [n] += row [n], for one token after the other; sums start at 0.
void AddToMean(const float* row, uint32_t n, double* sums);
// out [n] = sums / tokens. tokens >= 1.
void FinishMean(const double* sums, uint32_t tokens, uint32_t n, float* out);

// Shorter vectors are not stretched to length 1; the value of the reference implementation.
inline constexpr float kLengthMin = 1e-12f;

// out [n] = x [n] with length 1; out may be x. Returns false if the sum of squares is not finite.
bool NormalizeLength(const float* x, uint32_t n, float* out);

}  // namespace samebit::arith
