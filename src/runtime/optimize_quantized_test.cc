// SPDX-License-Identifier: Apache-2.0
// Quantised models, with passes and without: bytes that differ by one at most.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "onnx_io/text_parser.h"
#include "onnxseq/model_io.h"
#include "onnxseq/session.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

class Quantised {
 public:
  explicit Quantised(const std::string& graph)
      : model_(ParseModelText("<ir_version: 8, opset_import: [\"\" : 17]>\n" + graph)) {}

  Tensor Bytes(TensorType type, const Shape& shape) {
    Tensor t(type, shape);
    auto* const bytes = static_cast<uint8_t*>(t.mutable_data());
    for (int64_t i = 0; i < t.NumElements(); ++i) bytes[i] = static_cast<uint8_t>(random_());
    return t;
  }
  void Add(const char* name, const Tensor& tensor) {
    TensorProto& initializer = *model_.mutable_graph()->add_initializer();
    initializer = TensorToProto(tensor);
    initializer.set_name(name);
  }
  Tensor Scales(int64_t n, float times) {
    Tensor t(TensorType::kFloat, Shape{n});
    for (float& x : t.MutableView<float>()) x = times * (1 + static_cast<float>(random_() % 100) / 100);
    return t;
  }

  // The greatest difference of y, with passes, saved after them, and without.
  int Difference(const Tensor& x, const std::string& explanation) const {
    SessionOptions options;
    const Session optimised = Session::FromModel(model_, options);
    EXPECT_EQ(optimised.Explain(), explanation);
    const Session saved = Session::FromModel(OptimizeModel(model_), options);
    options.optimize = false;
    const Tensor expected = Session::FromModel(model_, options).Run({{"x", x}}).at("y").tensor();
    int most = 0, least_seen = 255, most_seen = 0;
    for (const Session* session : {&optimised, &saved}) {
      const Tensor y = session->Run({{"x", x}}).at("y").tensor();
      EXPECT_EQ(y.shape(), expected.shape());
      for (size_t i = 0; i < y.View<uint8_t>().size(); ++i) {
        const int got = y.View<uint8_t>()[i];
        most = std::max(most, std::abs(got - expected.View<uint8_t>()[i]));
        least_seen = std::min(least_seen, got);
        most_seen = std::max(most_seen, got);
      }
    }
    EXPECT_GT(most_seen - least_seen, 50) << "saturated";
    return most;
  }

 private:
  ModelProto model_;
  std::mt19937 random_{1};
};

TEST(OptimizeQuantized, Products) {
  Quantised model(
      R"(g (uint8[N,70] x) => (uint8[N,40] y) <float s = {0.02}, uint8 z = {120}, uint8 least = {0}, int8 wz = {2}, float ts = {0.5}> {
    fx = DequantizeLinear(x, s, z)
    fw = DequantizeLinear(w, ws)
    p = MatMul(fx, fw)
    h = QuantizeLinear(p, ts, z)
    fh = DequantizeLinear(h, ts, z)
    fv = DequantizeLinear <axis = 0> (v, vs)
    fb = DequantizeLinear <axis = 0> (b, bs)
    g = Gemm <transB = 1> (fh, fv, fb)
    r = Relu(g)
    y = QuantizeLinear(r, ys, least)
  })");
  model.Add("w", model.Bytes(TensorType::kInt8, {70, 50}));
  model.Add("ws", model.Scales(50, 0.01f));
  model.Add("v", model.Bytes(TensorType::kInt8, {40, 50}));
  const Tensor scales = model.Scales(40, 0.01f);
  Tensor steps(TensorType::kFloat, Shape{40}), bias(TensorType::kInt32, Shape{40});
  for (size_t i = 0; i < 40; ++i) {
    steps.MutableView<float>()[i] = 0.5f * scales.View<float>()[i];
    bias.MutableView<int32_t>()[i] = static_cast<int32_t>(i) * 1000 - 20000;
  }
  model.Add("vs", scales);
  model.Add("b", bias);
  model.Add("bs", steps);
  model.Add("ys", Tensor::Scalar(4.0f));
  EXPECT_LE(
      model.Difference(model.Bytes(TensorType::kUint8, {300, 70}), "10 nodes, 2 after the passes\nfuse quantized: 2\n"),
      1);
}

TEST(OptimizeQuantized, Convolutions) {
  Quantised model(
      R"(g (uint8[N,3,H,W] x) => (uint8[N,16,P,Q] y) <float s = {0.02}, uint8 z = {120}, float ds = {0.01}> {
    fx = DequantizeLinear(x, s, z)
    fw = DequantizeLinear <axis = 0> (w, ws)
    c = Conv <pads = [1, 1, 1, 1]> (fx, fw)
    h = QuantizeLinear(c, hs, z)
    fh = DequantizeLinear(h, hs, z)
    m = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (fh)
    k = QuantizeLinear(m, hs, z)
    fk = DequantizeLinear(k, hs, z)
    fd = DequantizeLinear(d, ds)
    e = Conv <group = 16, pads = [1, 1, 1, 1]> (fk, fd)
    o = QuantizeLinear(e, os, z)
    fo = DequantizeLinear(o, os, z)
    a = Add(fo, fk)
    y = QuantizeLinear(a, os, z)
  })");
  model.Add("w", model.Bytes(TensorType::kInt8, {16, 3, 3, 3}));
  model.Add("ws", model.Scales(16, 0.01f));
  model.Add("d", model.Bytes(TensorType::kInt8, {16, 1, 3, 3}));
  model.Add("hs", Tensor::Scalar(0.2f));
  model.Add("os", Tensor::Scalar(0.8f));
  // A unit of h may be one of y, and makes several terms of e.
  EXPECT_LE(model.Difference(model.Bytes(TensorType::kUint8, {2, 3, 30, 22}),
                             "14 nodes, 4 after the passes\nfuse quantized: 4\n"),
            2);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
