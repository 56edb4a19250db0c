// SPDX-License-Identifier: Apache-2.0
// oneDNN's own LSTM primitive as a contestant, for onednn.py: C functions, weights packed once as oneDNN likes them.
#include <cstdint>
#include <exception>
#include <memory>
#include <unordered_map>

#include "dnnl.hpp"

namespace {

using dnnl::memory;

struct Lstm {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::lstm_forward primitive;
  memory src, dst, h, c;
  std::unordered_map<int, memory> arguments;
};

}  // namespace

extern "C" {

// T steps, N rows, as many inputs as hidden units H, D directions (the second reversed). w, r: [D,H,4,H] (direction,
// input, gate i f c o, unit), b: [D,4,H]. Null when oneDNN refuses.
void* OnednnLstmCreate(int64_t t, int64_t n, int64_t h, int64_t d, float* w, float* r, float* b) try {
  using Tag = memory::format_tag;
  constexpr auto kF32 = memory::data_type::f32;
  auto lstm = std::make_unique<Lstm>();
  const memory::desc src({t, n, h}, kF32, Tag::tnc), dst({t, n, d * h}, kF32, Tag::tnc),
      state({1, d, n, h}, kF32, Tag::ldnc), any({1, d, h, 4, h}, kF32, Tag::any),
      plain({1, d, h, 4, h}, kF32, Tag::ldigo), bias({1, d, 4, h}, kF32, Tag::ldgo), none;
  const dnnl::lstm_forward::primitive_desc desc(
      lstm->engine, dnnl::prop_kind::forward_inference,
      d == 1 ? dnnl::rnn_direction::unidirectional_left2right : dnnl::rnn_direction::bidirectional_concat, src, none,
      none, any, any, bias, dst, state, state);
  lstm->primitive = dnnl::lstm_forward(desc);
  const auto packed = [&](float* from, const memory::desc& as) {
    memory to(as, lstm->engine), given(plain, lstm->engine, from);
    dnnl::reorder(given, to).execute(lstm->stream, given, to);
    lstm->stream.wait();
    return to;
  };
  lstm->src = memory(src, lstm->engine, nullptr);
  lstm->dst = memory(dst, lstm->engine, nullptr);
  lstm->h = memory(state, lstm->engine, nullptr);
  lstm->c = memory(state, lstm->engine, nullptr);
  lstm->arguments = {{DNNL_ARG_SRC_LAYER, lstm->src},
                     {DNNL_ARG_WEIGHTS_LAYER, packed(w, desc.weights_layer_desc())},
                     {DNNL_ARG_WEIGHTS_ITER, packed(r, desc.weights_iter_desc())},
                     {DNNL_ARG_BIAS, memory(bias, lstm->engine, b)},
                     {DNNL_ARG_DST_LAYER, lstm->dst},
                     {DNNL_ARG_DST_ITER, lstm->h},
                     {DNNL_ARG_DST_ITER_C, lstm->c}};
  return lstm.release();
} catch (const std::exception&) {
  return nullptr;
}

// x [T,N,H], y [T,N,D*H], h and c [D,N,H].
void OnednnLstmRun(void* of, float* x, float* y, float* h, float* c) {
  auto& lstm = *static_cast<Lstm*>(of);
  lstm.src.set_data_handle(x);
  lstm.dst.set_data_handle(y);
  lstm.h.set_data_handle(h);
  lstm.c.set_data_handle(c);
  lstm.primitive.execute(lstm.stream, lstm.arguments);
  lstm.stream.wait();
}
}
