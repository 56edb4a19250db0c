#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# namespaces.sh [WORK_DIR]: builds the library under the namespaces `onnx` and `my_ns` and runs the consumer programs against each;
# then runs a program that uses this library beside the official onnx package (apt's libonnx-dev and libprotobuf-dev, which
# `make test-namespaces` installs). Long: three library builds.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(dirname "$here")
work=${1:-$source/build/namespaces}

for name in onnx my_ns; do
  cmake --preset release -S "$source" -B "$work/$name" -DONNXSEQ_NAMESPACE=$name -DONNXSEQ_PYTHON=OFF -DONNXSEQ_CLI=OFF \
    -DONNXSEQ_BENCH=OFF -DONNXSEQ_TESTS=OFF > "$work.$name.log" 2>&1 || { cat "$work.$name.log"; exit 1; }
  cmake --build "$work/$name" --target onnxseq
  sh "$here/consumer/check.sh" "$work/$name"
  echo "namespace $name: ok"
done

prefix=$work/prefix
cmake --preset release -S "$source" -B "$work/onnx_light" -DONNXSEQ_PYTHON=OFF -DONNXSEQ_CLI=OFF -DONNXSEQ_BENCH=OFF \
  -DONNXSEQ_TESTS=OFF > "$work.light.log" 2>&1 || { cat "$work.light.log"; exit 1; }
cmake --build "$work/onnx_light" --target onnxseq
cmake --install "$work/onnx_light" --prefix "$prefix" --component library > /dev/null
lib=$(dirname "$(find "$prefix" -name 'libonnxseq.so' | head -n 1)")
# Both packages mean something by ONNX_NAMESPACE; here it is the official one's.
g++ -std=c++20 -DONNX_LIGHT_NO_ONNX_ALIAS -DONNX_ML=1 -DONNX_NAMESPACE=onnx -I"$prefix/include" "$here/consumer/next_to_onnx.cc" \
  -o "$work/next_to_onnx" -L"$lib" -lonnxseq -lonnx -lonnx_proto -lprotobuf
LD_LIBRARY_PATH="$lib" "$work/next_to_onnx"
echo "next to onnx: ok"
