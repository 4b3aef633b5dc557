// How code that is compiled once per instruction set stays inside its translation unit.
//
// Everything in src/kernels/simd lives in an anonymous namespace and is included by exactly one .cc per instruction
// set. Functions are forced inline besides: an inline function with external linkage could be emitted by an AVX-512
// unit and chosen by the linker for the baseline, which would then fault on a smaller machine. For the same reason
// these headers call no inline function of other headers that is not trivially small; tests/conformance checks with nm
// that the objects define no symbol that a linker may merge.
#pragma once

#define SAMEBIT_INLINE [[maybe_unused]] inline __attribute__((always_inline))
// For the tiles: inlined into their caller they would share its registers, and accumulators would be spilled.
#define SAMEBIT_NOINLINE [[maybe_unused]] __attribute__((noinline))
