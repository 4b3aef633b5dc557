#!/bin/sh
# Compiles the law and the golden program anew with one compiler at several settings, runs each and compares with the
# golden file. No build switch may change a result.
#
#   builds_test.sh PART SOURCE_DIR WORK_DIR NUMERIC_FLAGS
#
# PART: gcc | clang | aarch64 | control. `control` must fail to match: it shows that the comparison can fail.
# Exit 0 equal, 1 different (or a control that matches), 77 not measured: a compiler or emulator is not installed.
# shellcheck disable=SC2086  # flags, files and prefixes are lists of words
set -u
part=$1 source=$2 work=$3 numeric_flags=$4
golden=$source/tests/golden/arith.txt

has() { command -v "$1" >/dev/null 2>&1; }
not_measured() { echo "not measured: $1 is not installed"; exit 77; }
cpu_has() { grep -qw "$1" /proc/cpuinfo 2>/dev/null; }

run_prefix=
extra=
case $part in
  gcc|control) has g++ || not_measured g++; compiler=g++ ;;
  clang)
    compiler=
    for name in clang++-19 clang++; do has "$name" && compiler=$name && break; done
    [ -n "$compiler" ] || not_measured clang++-19
    ;;
  aarch64)
    has aarch64-linux-gnu-g++ || not_measured g++-aarch64-linux-gnu
    has qemu-aarch64 || not_measured qemu-user
    compiler=aarch64-linux-gnu-g++ extra=-static run_prefix=qemu-aarch64
    ;;
  *) echo "unknown part $part"; exit 2 ;;
esac
cache=
has ccache && cache=ccache

sources="$source/src/base/check.cc $source/src/base/sha256_portable.cc $source/tests/golden/arith_golden.cc"
for file in "$source"/src/arith/*.cc; do
  case $file in *_test.cc) ;; *) sources="$sources $file" ;; esac
done

# build_and_compare LABEL FLAGS...: prints the verdict, returns the program's.
build_and_compare() {
  label=$1
  shift
  folder=$work/$part-$label
  mkdir -p "$folder"
  objects=
  for file in $sources; do
    object=$folder/$(basename "$file").o
    $cache $compiler -std=c++20 -I"$source/src" "$@" -c "$file" -o "$object" || exit 1
    objects="$objects $object"
  done
  $compiler $extra $objects -o "$folder/arith_golden" || exit 1
  output=$($run_prefix "$folder/arith_golden" "$golden")
  verdict=$?
  echo "$compiler $label ($*): $(echo "$output" | tail -n 1)"
  [ $verdict -eq 0 ] || echo "$output" | head -n 20
  return $verdict
}

failed=0
if [ "$part" = control ]; then
  # The reassociation that the law forbids. It must run to its end and find lines that differ.
  build_and_compare reassociated -O2 -fno-signed-zeros -fno-trapping-math -fassociative-math -freciprocal-math
  if echo "$output" | grep -q "lines, [1-9][0-9]* differ"; then
    echo "control caught: reassociated arithmetic does not match"
    exit 0
  fi
  echo "the control was not caught: the comparison proves nothing"
  exit 1
fi
for level in O0 O2 O3; do
  build_and_compare "$level" -$level $numeric_flags || failed=1
done
if [ "$part" != aarch64 ] && cpu_has fma && cpu_has avx2; then
  build_and_compare fma -O3 -mavx2 -mfma $numeric_flags || failed=1
fi
exit $failed
