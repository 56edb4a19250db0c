// SPDX-License-Identifier: Apache-2.0
// What shape inference of large models costs, parsing their bytes included: a chain of 5,000 elementwise nodes, and
// transformers whose reshapes take batch and length from their inputs.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "onnx_io/reader.h"
#include "onnx_io/text_parser.h"
#include "onnx_io/writer.h"
#include "onnxseq/shapes.h"

namespace onnxseq = ONNX_LIGHT_NAMESPACE;

namespace {

std::string Bytes(const std::string& graph) {
  return onnxseq::SerializeModel(onnxseq::ParseModelText("<ir_version: 10, opset_import: [\"\" : 21]>\n" + graph));
}

void Infer(benchmark::State& state, const std::string& bytes, const std::string& output, const std::string& expected) {
  for (auto _ : state) {
    const onnxseq::InferredShapes inferred = onnxseq::InferShapes(onnxseq::ParseModel(bytes, nullptr));
    const std::string shape = inferred.graphs.at(0).values.at(output).Shape().ToString();
    if (shape == expected && inferred.problems.empty()) continue;
    std::fprintf(stderr, "shapes_bench: %s is %s, not %s\n", output.c_str(), shape.c_str(), expected.c_str());
    std::exit(1);
  }
}

void Chain(benchmark::State& state) {
  constexpr int kNodes = 5000;
  std::string graph = fmt::format("g (float[N,64] v0, float[64] w) => (v{}) {{", kNodes);
  for (int i = 0; i < kNodes; ++i) {
    const std::string_view op[] = {"Relu", "Add", "Mul", "Sigmoid", "Sub"};
    const std::string second[] = {"", ", w", fmt::format(", v{}", i), "", ", w"};
    graph += fmt::format(" v{} = {} (v{}{})", i + 1, op[i % 5], i, second[i % 5]);
  }
  Infer(state, Bytes(graph + " }"), fmt::format("v{}", kNodes), "[N,64]");
}
BENCHMARK(Chain)->Unit(benchmark::kMillisecond);

void Transformer(benchmark::State& state) {
  const auto layers = state.range(0);
  std::string graph = fmt::format(
      "g (float[B,S,64] x0, float[64,64] w, float[64,256] up, float[256,64] down, float[64] one) => (x{}) {{", layers);
  graph += R"(
    zero = Constant <value_int = 0> () first = Constant <value_int = 1> () front = Constant <value_ints = [0]> ()
    heads = Constant <value_ints = [8, 8]> () width = Constant <value_ints = [64]> () scale = Constant <value_float = 0.35> ())";
  for (int64_t i = 0; i < layers; ++i) {
    std::string layer = R"(
      h# = LayerNormalization <axis = -1> (x#, one)  s# = Shape (h#)
      b0# = Gather (s#, zero)  b# = Unsqueeze (b0#, front)  l0# = Gather (s#, first)  l# = Unsqueeze (l0#, front)
      t# = Concat <axis = 0> (b#, l#, heads)
      q0# = MatMul (h#, w)  q1# = Reshape (q0#, t#)  q# = Transpose <perm = [0, 2, 1, 3]> (q1#)
      k0# = MatMul (h#, w)  k1# = Reshape (k0#, t#)  k# = Transpose <perm = [0, 2, 3, 1]> (k1#)
      v0# = MatMul (h#, w)  v1# = Reshape (v0#, t#)  v# = Transpose <perm = [0, 2, 1, 3]> (v1#)
      a0# = MatMul (q#, k#)  a1# = Mul (a0#, scale)  a# = Softmax <axis = -1> (a1#)
      o0# = MatMul (a#, v#)  o1# = Transpose <perm = [0, 2, 1, 3]> (o0#)  u# = Concat <axis = 0> (b#, l#, width)
      o2# = Reshape (o1#, u#)  o# = MatMul (o2#, w)  y# = Add (x#, o#)
      n# = LayerNormalization <axis = -1> (y#, one)  f0# = MatMul (n#, up)  f1# = Gelu (f0#)  f# = MatMul (f1#, down)
      x% = Add (y#, f#))";
    for (size_t at; (at = layer.find('#')) != std::string::npos;) layer.replace(at, 1, fmt::format("{}", i));
    layer.replace(layer.find('%'), 1, fmt::format("{}", i + 1));
    graph += layer;
  }
  Infer(state, Bytes(graph + " }"), fmt::format("x{}", layers), "[B,S,64]");
}
BENCHMARK(Transformer)->Arg(50)->Arg(500)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
