// SPDX-License-Identifier: Apache-2.0
// What OpenVINO IR cannot say is refused by name: the messages.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "runtime/save_ir_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Case {
  int opset;
  const char* graph;
  const char* refusal;
};
void Check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) EXPECT_EQ(Refusal(c.graph, c.opset), c.refusal) << c.graph;
}

TEST(SaveIrRefused, MapsSequencesOptionals) {
  Check(
      {{17, "g (map(int64, float) m) => (float[1,2] y) { [cast] y = ai.onnx.ml.CastMap(m) }",
        "graph input \"m\": is a map, IR has tensors only; CastMap node \"cast\": IR has no layer for it (domain "
        "ai.onnx.ml)"},
       {17,
        "g (float[1,2] x) => (seq(map(int64, float)) y) { [zip] y = ai.onnx.ml.ZipMap<classlabels_int64s = [1, 2]>(x) "
        "}",
        "ZipMap node \"zip\": IR has no layer for it (domain ai.onnx.ml); graph output \"y\": is a sequence, IR has "
        "tensors only"},
       {17, "g (seq(float[2]) s, int64 i) => (float[2] y) { [at] y = SequenceAt(s, i) }",
        "graph input \"s\": is a sequence, IR has tensors only; SequenceAt node \"at\": IR has no layer for it"},
       {17,
        "g (float[4] x) => (float[4] y) { [split] s = SplitToSequence(x) [join] y = ConcatFromSequence<axis = 0>(s) }",
        "SplitToSequence node \"split\": IR has no layer for it; ConcatFromSequence node \"join\": IR has no layer for "
        "it"},
       {17,
        "g (seq(float[2]) s) => (seq(float[2]) y) { [map] y = SequenceMap<body = b (float[2] e) => (float[2] f) { f = "
        "Neg(e) }>(s) }",
        "graph input \"s\": is a sequence, IR has tensors only; SequenceMap node \"map\": IR has no layer for it; "
        "graph output \"y\": is a sequence, IR has tensors only"},
       {17, "g (seq(float[2]) s) => (seq(float[2]) y) { [same] y = Identity(s) }",
        "graph input \"s\": is a sequence, IR has tensors only; Identity node \"same\", input 0 (\"s\"): is a "
        "sequence, IR has tensors only; graph output \"y\": is a sequence, IR has tensors only"},
       {17, "g (float[2] x) => (optional(float[2]) y) { [wrap] y = Optional(x) }",
        "Optional node \"wrap\": IR has no layer for it; graph output \"y\": is an optional, IR has tensors only"},
       {17, "g (string[2] x) => (float[2] y) { [cast] y = Cast<to = 1>(x) }",
        "Cast node \"cast\", input 0: Convert reads no strings"},
       {17,
        "g (string[2] x) => (bool[2] y) <string[2] c = {\"a\", \"b\"}> { [has] y = RegexFullMatch<pattern = \"a\">(x) "
        "}",
        "RegexFullMatch node \"has\": IR has no layer for it"}});
}

TEST(SaveIrRefused, BodiesAndDomains) {
  Check({{17,
          "g (int64 n, bool c, seq(float[2]) s) => (seq(float[2]) y) { [loop] y = Loop<body = b (int64 i, bool d, "
          "seq(float[2]) t) => (bool e, seq(float[2]) u) { e = Identity(d) u = Identity(t) }>(n, c, s) }",
          "graph input \"s\": is a sequence, IR has tensors only; Loop node \"loop\", input 2 (\"s\"): is a sequence, "
          "IR has tensors only; graph output \"y\": is a sequence, IR has tensors only"},
         {17,
          "g (bool c, float[2] x) => (seq(float[2]) y) { [if] y = If<then_branch = a () => (seq(float[2]) p) { p = "
          "SequenceConstruct(x) }, else_branch = b () => (seq(float[2]) q) { q = SequenceConstruct(x, x) }>(c) }",
          "SequenceConstruct: IR has no layer for it in body 'a'; SequenceConstruct: IR has no layer for it in body "
          "'b'; If node \"if\", output 0 (\"y\"): is a sequence, IR has tensors only; graph output \"y\": is a "
          "sequence, IR has tensors only"},
         {8,
          "g (float[1,3] s, float[1,4,3] x) => (float[1,3] y, float[1,4,3] z) { [scan] y, z = Scan<num_scan_inputs = "
          "1, body = b (float[3] t, float[3] e) => (float[3] u, float[3] f) { u = Add(t, e) f = Identity(u) }>(\"\", "
          "s, x) }",
          "Scan node \"scan\": Scan of operator set 8 has a batch, TensorIterator has none"},
         {17,
          "g (int64 n, bool c, float[2] x) => (float[2] y) { [loop] y = Loop<body = b (int64 i, bool d, float[2] t) => "
          "(bool e, float[2] u) { e = Identity(d) [inner] u = my.Op(t) }>(n, c, x) }",
          "Op node \"inner\": IR has no layer for it (domain my) in body 'b'; Loop node \"loop\", output 0 (\"y\"): "
          "its element type must be known"},
         {17, "g (float[2] x) => (float[2] y) { [mine] y = my.Op(x) }",
          "Op node \"mine\": IR has no layer for it (domain my)"}});
}

TEST(SaveIrRefused, BodiesAsDeepAsTheyAreRead) {
  const auto nested = [](int depth) {
    std::string node = "v0 = Neg(x)";
    for (int i = 0; i < depth; ++i)
      node = fmt::format(
          "v{0} = If(c)<then_branch = t{0} () => (float[2] p{0}) {{ {1} p{0} = Neg(v{2}) }}, else_branch = e{0} () => "
          "(float[2] q{0}) {{ q{0} = Neg(x) }}>",
          i + 1, node, i);
    return fmt::format("g (float[2] x, bool c) => (float[2] y) {{ {} y = Neg(v{}) }}", node, depth);
  };
  EXPECT_EQ(Read(ToIr(FromGraphText(nested(16)))).graph().output_size(), 1);
  EXPECT_THAT(Refusal(nested(17)), testing::HasSubstr("If: bodies stand in each other more than 16 deep"));
}

TEST(SaveIrRefused, ElementTypes) {
  Check({{25, "g (uint2[4] x) => (float[4] y) { [cast] y = Cast<to = 1>(x) }",
          "graph input \"x\": IR has no element type uint2"},
         {25, "g (float[4] x) => (float8e5m2fnuz[4] y) { [cast] y = Cast<to = 20>(x) }",
          "Cast node \"cast\", output 0 (\"y\"): IR has no element type float8e5m2fnuz"},
         {12, "g (float[2] x) => (float[2] y) { [celu] y = Celu<alpha = -0.5>(x) }",
          "Celu node \"celu\", attribute 'alpha': must be more than 0, is -0.5"},
         {17, "g (int32[2] x, float[2] e) => (int32[2] y) { [pow] y = Pow(x, e) }",
          "Pow node \"pow\": Power has one type, the base is int32 and the exponent float"}});
}

TEST(SaveIrRefused, SignalsAndImages) {
  Check({{17,
          "g (float[2,20,1] x, float[4] v) => (float[2,N,4,2] y) <int64 s = {2}> { [frames] y = STFT<onesided = "
          "0>(x, s, v) }",
          "STFT node \"frames\", attribute 'onesided': STFT gives one half"},
         {17, "g (float[2,20,2] x, float[4] v) => (float[2,N,3,2] y) <int64 s = {2}> { [frames] y = STFT(x, s, v) }",
          "STFT node \"frames\", input 0 'signal': must be real, of rank 3"},
         {17, "g (float[2,5,P] x) => (float[2,5,2] y) { [dft] y = DFT(x) }",
          "DFT node \"dft\", input 0: its last dim must be known"},
         {20, "g (float[2,5,2] x, int64 a) => (float[2,5,2] y) { [dft] y = DFT(x, \"\", a) }",
          "DFT node \"dft\", input 2 'axis': must be constant"},
         {20, "g (float[1,2,4,5,6] x, float[1,3,3,3,3] g) => (float[1,2,3,3,3] y) { [grid] y = GridSample(x, g) }",
          "GridSample node \"grid\", input 0 'X': GridSample is for images, rank 4, it has 5"},
         {16,
          "g (float[1,2,8,8] x, float[2,4] r, int64[2] b) => (float[2,2,1,1] y) { [roi] y = RoiAlign<mode = "
          "\"max\">(x, r, b) }",
          "RoiAlign node \"roi\", attribute 'mode': the greatest of ROIAlign is another one"},
         {17, "g (float[2,5,2] x) => (float[2,N,2] y) <int64 n = {-3}> { [dft] y = DFT(x, n) }",
          "DFT node \"dft\", input 1 'dft_length': must be one number above 0"},
         {18,
          "g (float[1,12,6] x) => (float[1,3,4,5] y) <int64[2] s = {4, 5}, int64[2] b = {2, 2}> { [image] y = "
          "Col2Im<strides = [2, 2, 2]>(x, s, b) }",
          "Col2Im node \"image\", attribute 'strides': must have 2 elements, got 3"},
         {18,
          "g (float[1,8,6] x) => (float[1,1,4,5,6] y) <int64[3] s = {4, 5, 6}, int64[3] b = {2, 2, 2}> { [image] y "
          "= Col2Im(x, s, b) }",
          "Col2Im node \"image\", input 1 'image_shape': must have 2 elements: Col2Im is for images"}});
}

TEST(SaveIrRefused, WholeNumbers) {
  Check({{28, "g (int32[4] x, int32[4] b) => (int32[4] y) { [shift] y = BitShift<direction = \"LEFT\">(x, b) }",
          "BitShift node \"shift\", input 0 'X': int32 is not written, its shifts are others"},
         {21, "g (float[4] x, float[2] s) => (uint8[4] y) { [q] y = QuantizeLinear<axis = 0, block_size = 2>(x, s) }",
          "QuantizeLinear node \"q\", attribute 'block_size': blocks are no layer's"},
         {21, "g (float[4] x) => (int4[4] y) <float s = {1}, int4 z = {0}> { [q] y = QuantizeLinear(x, s, z) }",
          "QuantizeLinear node \"q\", output 0: int4 is not written"},
         {13, "g (int32[4] x, float s, int32 z) => (float[4] y) { [d] y = DequantizeLinear(x, s, z) }",
          "DequantizeLinear node \"d\", input 0 'x': int32 with a zero point is not written"},
         {13, "g (uint8[4] x, float[N] s) => (float[4] y) { [d] y = DequantizeLinear<axis = 0>(x, s) }",
          "DequantizeLinear node \"d\", input 1: must be a scalar or a vector of known size"},
         {11, "g (float[2,3] x) => (float[2,3] y) { [h] y = Hardmax(x) }",
          "Hardmax node \"h\": in operator set 11 it is over several axes"}});
}

TEST(SaveIrRefused, WhatNoLayerSays) {
  Check({{6, "g (float[2,3] a, float[3] b) => (float[2,3] y) { [add] y = Add<broadcast = 1>(a, b) }",
          "Add node \"add\", attribute 'broadcast': no attribute of the layer says this"},
         {17, "g (float[2,3] x) => (int64[2,1] y) { [arg] y = ArgMax<axis = 1, select_last_index = 1>(x) }",
          "ArgMax node \"arg\", attribute 'select_last_index': TopK gives the first of equal values"},
         {17, "g (float[1,2,5] x) => (float[1,2,5] y) { [lrn] y = LRN<size = 2>(x) }",
          "LRN node \"lrn\", attribute 'size': must be odd: the windows of even ones are others in IR"},
         {17,
          "g (float[1,2,5,5] x) => (float[1,2,3,3] y, int64[1,2,3,3] i) { [pool] y, i = MaxPool<kernel_shape = [3, 3], "
          "storage_order = 1>(x) }",
          "MaxPool node \"pool\", attribute 'storage_order': indices count rows first"},
         {17,
          "g (float[1,2,5,5] x) => (float[1,2,2,2] y) { [pool] y = AveragePool<kernel_shape = [3, 3], strides = [2, "
          "2], "
          "ceil_mode = 1, count_include_pad = 1>(x) }",
          "AveragePool node \"pool\", attribute 'ceil_mode': with count_include_pad it is not what AvgPool does"},
         {17,
          "g (float[1,2,5] x, float[2,2,3] w) => (float[1,2,20] y) { [conv] y = ConvTranspose<strides = [4], auto_pad "
          "= \"SAME_UPPER\">(x, w) }",
          "ConvTranspose node \"conv\", attribute 'auto_pad': stride 4 is beyond the kernel"},
         {17,
          "g (float[1,2,5] x, float[2] s) => (float[1,2,5] y) { [norm] y, m, v = BatchNormalization<training_mode = "
          "1>(x, s, s, s, s) }",
          "BatchNormalization node \"norm\", attribute 'training_mode': must be 0"},
         {17, "g (float[2] x, float t, bool on) => (float[2] y) { [drop] y = Dropout(x, t, on) }",
          "Dropout node \"drop\", input 2 'training_mode': must be constant and false"},
         {19, "g (float[4] x) => (float[M] y) <int64[2] p = {1, 1}> { [pad] y = Pad<mode = \"wrap\">(x, p) }",
          "Pad node \"pad\", attribute 'mode': Pad knows constant, edge and reflect, not \"wrap\""},
         {18, "g (float[4,5] x, int64[2] p, int64[1] a) => (float[M,5] y) { [pad] y = Pad(x, p, \"\", a) }",
          "Pad node \"pad\", input 3 'axes': must be constant"},
         {18,
          "g (float[4,5] x) => (float[M,5] y) <int64[2] p = {1, 1}, int64[2] a = {0, 1}> { [pad] y = Pad(x, p, \"\", "
          "a) }",
          "Pad node \"pad\", input 1 'pads': has 2 numbers for 2 axes"},
         {10, "g (float[1,1,4,4] x) => (float[1,1,2,2] y) <float[4] s = {1, 1, 0.5, 0.5}> { [size] y = Resize(x, s) }",
          "Resize node \"size\": Resize of operator set 10 is not Interpolate"},
         {18,
          "g (float[1,1,4,4] x) => (float[1,1,A,B] y) <float[4] s = {1, 1, 0.6, 0.6}> { [size] y = Resize<mode = "
          "\"linear\", coordinate_transformation_mode = \"align_corners\">(x, \"\", s) }",
          "Resize node \"size\", attribute 'coordinate_transformation_mode': align_corners of scales is Interpolate "
          "only "
          "where the sizes they give are known to be whole"},
         {18,
          "g (float[1,1,4,4] x) => (float[1,1,A,B] y) <float[4] s = {1, 1, 0.5, 0.5}> { [size] y = Resize<antialias = "
          "1, "
          "mode = \"linear\">(x, \"\", s) }",
          "Resize node \"size\", attribute 'antialias': Interpolate has it with half_pixel and exclude_outside alone"},
         {18,
          "g (float[1,1,4,4] x) => (float[1,1,A,B] y) <float[4] s = {1, 1, 0.5, 0.5}> { [size] y = "
          "Resize<exclude_outside = 1, mode = \"cubic\">(x, \"\", s) }",
          "Resize node \"size\", attribute 'exclude_outside': Interpolate does not"},
         {18,
          "g (float[1,1,4,4] x) => (float[1,1,A,B] y) <int64[4] s = {1, 1, 2, 3}> { [size] y = "
          "Resize<keep_aspect_ratio_policy = \"not_larger\">(x, \"\", \"\", s) }",
          "Resize node \"size\", attribute 'keep_aspect_ratio_policy': Interpolate has no \"not_larger\""},
         {18,
          "g (float[1,1,4,4] x, float[8] roi) => (float[1,1,A,B] y) <int64[4] s = {1, 1, 2, 3}> { [size] y = "
          "Resize<coordinate_transformation_mode = \"tf_crop_and_resize\", mode = \"linear\">(x, roi, \"\", s) }",
          "Resize node \"size\", attribute 'coordinate_transformation_mode': Interpolate has no "
          "\"tf_crop_and_resize\""}});
}

TEST(SaveIrRefused, WhatIsNotKnown) {
  Check({{17, "g (float[N,M,K] x) => (float[N,M,K] y) { [drop] y = Flatten(z) z = my.Op(x) }",
          "Op: IR has no layer for it (domain my); Flatten node \"drop\", input 0 (\"z\"): its rank must be known"},
         {11, "g (float[N,M,K] x) => (float[N,M,K] y) { [soft] y = Softmax<axis = 1>(x) }",
          "Softmax node \"soft\", attribute 'axis': all axes from 1 on are one in operator set 11: their sizes must be "
          "known"},
         {18, "g (float[N] x) => (float[A] y, float[B] z) { [split] y, z = Split<num_outputs = 2>(x) }",
          "Split node \"split\", attribute 'num_outputs': the size of the axis must be known: the last part may be "
          "smaller"},
         {17, "g (float[2,3] x, int64[K] a) => (float[?,?] y) { [sum] y = ReduceSum(x, a) }",
          "ReduceSum node \"sum\", input 1 'axes': their number must be known: none may mean all"},
         {17, "g (float[2,3] x, int64[K] s, int64[K] e) => (float[?,?] y) { [cut] y = Slice(x, s, e) }",
          "Slice node \"cut\", input 1 'starts': the number of its elements must be known, as steps are left out"}});
}

TEST(SaveIrRefused, RecurrentOperators) {
  Check({{17,
          "g (float[T,N,3] x, float[1,8,3] w, float[1,8,2] r, float[1,6] p) => (float[T,D,N,2] y) { [l] y = "
          "LSTM<hidden_size = 2>(x, w, r, \"\", \"\", \"\", \"\", p) }",
          "LSTM node \"l\", input 7 'P': LSTMSequence of opset5 has no peepholes; lowering writes a loop"},
         {17,
          "g (float[T,N,3] x, float[1,8,3] w, float[1,8,2] r) => (float[T,D,N,2] y) { [l] y = LSTM<hidden_size = 2, "
          "input_forget = 1>(x, w, r) }",
          "LSTM node \"l\", attribute 'input_forget': LSTMSequence does not couple its gates; lowering writes a loop"},
         {17,
          "g (float[T,N,3] x, float[1,8,3] w, float[1,8,2] r) => (float[T,D,N,2] y) { [l] y = LSTM<hidden_size = 2, "
          "activations = [\"Sigmoid\", \"Tanh\"]>(x, w, r) }",
          "LSTM node \"l\", attribute 'activations': must be 3 names, got 2"},
         {17,
          "g (float[T,N,3] x, float[1,8,3] w, float[1,8,2] r) => (float[T,D,N,2] y) { [l] y = LSTM<hidden_size = 2, "
          "activations = [\"HardSigmoid\", \"Tanh\", \"Tanh\"], activation_alpha = [0.3]>(x, w, r) }",
          "LSTM node \"l\", attribute 'activations': LSTMSequence knows Sigmoid, Tanh and Relu, not \"hardsigmoid\"; "
          "lowering writes a loop"},
         {17,
          "g (float[T,N,3] x, float[1,6,3] w, float[1,6,2] r) => (float[T,D,N,2] y) { [l] y = GRU<hidden_size = 2, "
          "activations = [\"Sigmoid\", \"Softsign\"]>(x, w, r) }",
          "GRU node \"l\", attribute 'activations': GRUSequence knows Sigmoid, Tanh and Relu, not \"softsign\"; "
          "lowering writes a loop"},
         {17,
          "g (float[T,N,3] x, float[2,2,3] w, float[2,2,2] r) => (float[T,D,N,2] y) { [l] y = RNN<hidden_size = 2, "
          "direction = \"bidirectional\", activations = [\"Tanh\", \"Relu\"]>(x, w, r) }",
          "RNN node \"l\", attribute 'activations': RNNSequence has one set for both directions; lowering writes it as "
          "other layers"}});
}

TEST(SaveIrRefused, WhatIrCannotSayIsRefused) {
  EXPECT_EQ(Refusal("g (float[2] x) => (seq(float[2]) s) { [make] s = SequenceConstruct(x) }"),
            "SequenceConstruct node \"make\": IR has no layer for it; graph output \"s\": is a sequence, IR has "
            "tensors only");
  EXPECT_EQ(Refusal("g (optional(float[2]) x) => (bool y) { y = OptionalHasElement(x) }", 18),
            "graph input \"x\": is an optional, IR has tensors only; OptionalHasElement: IR has no layer for it");
  EXPECT_EQ(Refusal("g (complex64[2] x) => (complex64[2] y) { y = Identity(x) }"),
            "graph input \"x\": IR has no element type complex64");
  EXPECT_EQ(Refusal("g (float[2] x) => (string[2] y) { [cast] y = Cast<to = 8>(x) }"),
            "Cast node \"cast\", attribute 'to': Convert gives no strings");
  EXPECT_EQ(Refusal("g (string[2] x) => (string[2] y) { y = StringNormalizer(x) }"),
            "StringNormalizer: IR has no layer for it");
  EXPECT_EQ(
      Refusal("g (float[1,2] x) => (float[1,2] y) { [s] y = ai.onnx.ml.Scaler<offset = [0.0], scale = [1.0]>(x) }"),
      "Scaler node \"s\": IR has no layer for it (domain ai.onnx.ml)");
  EXPECT_EQ(Refusal("g (float[2] x) => (float[2] y) { [odd] y = Relu<slope = 1>(x) }"),
            "Relu node \"odd\", attribute 'slope': no attribute of the layer says this");
  EXPECT_EQ(Refusal("g (float[2] x) => (float[2] y) <float[2] x = {1, 2}> { y = Relu(x) }"),
            "graph input \"x\": it has a default, which no input of IR has; lowering makes it a constant");
  EXPECT_EQ(Refusal("g (float[2] x, bool c) => (float[2] y) { [if] y = If(c)<then_branch = a () => (float[2] p) { "
                    "[bad] p = Bernoulli(x) }, "
                    "else_branch = b () => (float[2] q) { q = Neg(x) }> }"),
            "Bernoulli node \"bad\": IR has no layer for it in body 'a'");
}

TEST(SaveIrRefused, AnEmptyGraphIsRefused) {
  EXPECT_EQ(ThrownBy<Unsupported>([] { ToIr(FromGraphText("g () => () {}")); }),
            "OpenVINO IR cannot say a graph without inputs, nodes and outputs");
}

TEST(SaveIrRefused, WhatSequencesCannotSayIsRefused) {
  const auto lstm = [](const std::string& attributes, const std::string& more, bool lower = false) {
    return Refusal(
        "g (float[5,4,3] x, float[2,8,3] w, float[2,8,2] r, float[2,6] p) => (float[T,D,N,2] y) { [l] y = "
        "LSTM<hidden_size = 2, direction = \"bidirectional\"" +
            attributes + ">(x, w, r" + more + ") }",
        17, lower);
  };
  EXPECT_EQ(lstm("", ", , , , , p"),
            "LSTM node \"l\", input 7 'P': LSTMSequence of opset5 has no peepholes; lowering writes a loop");
  EXPECT_EQ(
      lstm(", input_forget = 1", ""),
      "LSTM node \"l\", attribute 'input_forget': LSTMSequence does not couple its gates; lowering writes a loop");
  EXPECT_EQ(lstm(", activations = [\"HardSigmoid\", \"Tanh\", \"Tanh\", \"Sigmoid\", \"Tanh\", \"Tanh\"]", ""),
            "LSTM node \"l\", attribute 'activations': LSTMSequence knows Sigmoid, Tanh and Relu, not \"hardsigmoid\"; "
            "lowering writes a loop");
  const std::string two = ", activations = [\"Sigmoid\", \"Tanh\", \"Tanh\", \"Sigmoid\", \"Relu\", \"Tanh\"]";
  EXPECT_EQ(lstm(two, ""),
            "LSTM node \"l\", attribute 'activations': LSTMSequence has one set for both directions; "
            "lowering writes it as other layers");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
