# Compiler flags. The numeric ones are a promise about bits, so they live in one
# interface target that arith, kernels and engine link and nobody overrides.
add_compile_options(-Wall -Wextra -Werror -Wno-psabi)
set(SAMEBIT_SANITIZE "" CACHE STRING "Sanitizers, comma separated (address,undefined or thread)")
if(SAMEBIT_SANITIZE)
  add_compile_options(-fsanitize=${SAMEBIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SAMEBIT_SANITIZE})
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELEASE "-O2")

find_program(SAMEBIT_CCACHE ccache)
if(SAMEBIT_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SAMEBIT_CCACHE})
endif()

add_library(samebit_numeric_flags INTERFACE)
# No contraction: every fma in the source is written as one. No fast-math, also
# not at link time, where it would switch on flush-to-zero for the process.
target_compile_options(samebit_numeric_flags INTERFACE
  -ffp-contract=off -fno-fast-math -fno-math-errno -fno-strict-aliasing)
