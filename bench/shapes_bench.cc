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
    for (const onnxseq::ShapeProblem& problem : inferred.problems)
      std::fprintf(stderr, "  %s\n", problem.message.c_str());
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
      "g (float[B,S,64] x_0, float[64,64] w, float[64,256] up, float[256,64] down, float[64] one) => (x_{}) {{",
      layers);
  graph += R"(
    zero = Constant <value_int = 0> () first = Constant <value_int = 1> () front = Constant <value_ints = [0]> ()
    heads = Constant <value_ints = [8, 8]> () width = Constant <value_ints = [64]> () scale = Constant <value_float = 0.35> ())";
  for (int64_t i = 0; i < layers; ++i) {
    std::string layer = R"(
      h_# = LayerNormalization <axis = -1> (x_#, one)  s_# = Shape (h_#)
      b0_# = Gather (s_#, zero)  b_# = Unsqueeze (b0_#, front)  l0_# = Gather (s_#, first)  l_# = Unsqueeze (l0_#, front)
      t_# = Concat <axis = 0> (b_#, l_#, heads)
      q0_# = MatMul (h_#, w)  q1_# = Reshape (q0_#, t_#)  q_# = Transpose <perm = [0, 2, 1, 3]> (q1_#)
      k0_# = MatMul (h_#, w)  k1_# = Reshape (k0_#, t_#)  k_# = Transpose <perm = [0, 2, 3, 1]> (k1_#)
      v0_# = MatMul (h_#, w)  v1_# = Reshape (v0_#, t_#)  v_# = Transpose <perm = [0, 2, 1, 3]> (v1_#)
      a0_# = MatMul (q_#, k_#)  a1_# = Mul (a0_#, scale)  a_# = Softmax <axis = -1> (a1_#)
      o0_# = MatMul (a_#, v_#)  o1_# = Transpose <perm = [0, 2, 1, 3]> (o0_#)  u_# = Concat <axis = 0> (b_#, l_#, width)
      o2_# = Reshape (o1_#, u_#)  o_# = MatMul (o2_#, w)  y_# = Add (x_#, o_#)
      n_# = LayerNormalization <axis = -1> (y_#, one)  f0_# = MatMul (n_#, up)  f1_# = Gelu (f0_#)  f_# = MatMul (f1_#, down)
      x_% = Add (y_#, f_#))";
    for (size_t at; (at = layer.find('#')) != std::string::npos;) layer.replace(at, 1, fmt::format("{}", i));
    layer.replace(layer.find('%'), 1, fmt::format("{}", i + 1));
    graph += layer;
  }
  Infer(state, Bytes(graph + " }"), fmt::format("x_{}", layers), "[B,S,64]");
}
BENCHMARK(Transformer)->Arg(50)->Arg(500)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
