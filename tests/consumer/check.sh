#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh BUILD_DIR [CMAKE]: installs BUILD_DIR to a temporary prefix and builds and runs the programs here as an outside user would.
set -eu
build=$1
cmake=${2:-cmake}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/prefix" --component library > "$work/install.log" || { cat "$work/install.log"; exit 1; }
lib=$(dirname "$(find "$work/prefix" -name 'libonnxseq.so' | head -n 1)")
export LD_LIBRARY_PATH="$lib"

# find_package
"$cmake" -S "$here/project" -B "$work/project" -DCMAKE_PREFIX_PATH="$work/prefix" > "$work/configure.log" 2>&1 || { cat "$work/configure.log"; exit 1; }
"$cmake" --build "$work/project" > "$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$work/project/documented"
"$work/project/core_names"
echo "find_package: ok"

# Plain calls, as strict as a user may be about foreign headers.
for compiler in g++ clang++-19; do
  command -v "$compiler" > /dev/null || { echo "$compiler: not here"; continue; }
  for flags in "" "-DONNX_LIGHT_NO_ONNX_ALIAS"; do
    for program in documented core_names; do
      # shellcheck disable=SC2086
      "$compiler" -std=c++20 -Wall -Wextra -Werror $flags -I"$work/prefix/include" "$here/$program.cc" -o "$work/program" -L"$lib" -lonnxseq
      "$work/program"
    done
    echo "$compiler ${flags:-with the alias}: ok"
  done
done
