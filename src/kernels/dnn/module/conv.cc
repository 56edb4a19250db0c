// SPDX-License-Identifier: Apache-2.0
#include "kernels/dnn/module/conv.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/dnn/module/lru.h"
#include "kernels/dnn/module/surroundings.h"

// By layout; one is the rule.
struct OnnxseqDnnWeights {
  std::mutex mutex;
  std::vector<std::pair<dnnl::memory::desc, dnnl::memory>> made;
};

namespace dnn_module {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

// A primitive is about 100 KB of code and tables.
constexpr size_t kPrimitives = 256;

struct ConvPrimitive {
  dnnl::primitive primitive;  // empty: not served
  memory::desc x, w, b, y;
  size_t scratch = 0;
};

memory::dims Dims(int64_t first, int64_t second, const int64_t* rest, int axes) {
  memory::dims dims{first, second};
  dims.insert(dims.end(), rest, rest + axes);
  return dims;
}

memory::desc WeightsDesc(const OnnxseqDnnConv& c, bool plain) {
  memory::dims dims = Dims(c.out_channels, c.in_channels, c.kernel, c.axes);
  dims.insert(dims.begin(), c.groups);
  if (!plain && c.groups == 1) dims.erase(dims.begin());
  if (!plain) return {dims, memory::data_type::f32, Tag::any};
  memory::dims strides(dims.size(), 1);
  for (size_t d = dims.size() - 1; d-- > 3;) strides[d] = strides[d + 1] * dims[d + 1];
  int64_t places = 1;
  for (int d = 0; d < c.axes; ++d) places *= c.kernel[d];
  const auto inner = static_cast<size_t>(c.transposed != 0 ? 1 : 2);
  strides[inner] = places;
  strides[3 - inner] = places * dims[inner];
  strides[0] = places * c.in_channels * c.out_channels;
  if (c.groups == 1) {
    dims.erase(dims.begin());
    strides.erase(strides.begin());
  }
  return {dims, memory::data_type::f32, strides};
}

template <class Descriptor>
ConvPrimitive Ready(const Descriptor& descriptor, bool has_bias) {
  // The plain loops of the library are slower than ours.
  if (std::string_view(descriptor.impl_info_str()).find("ref") != std::string_view::npos) return {};
  ConvPrimitive made;
  made.x = descriptor.src_desc();
  made.w = descriptor.weights_desc();
  if (has_bias) made.b = descriptor.bias_desc();
  made.y = descriptor.dst_desc();
  made.scratch = descriptor.scratchpad_desc().get_size();
  if constexpr (std::is_same_v<Descriptor, dnnl::convolution_forward::primitive_desc>)
    made.primitive = dnnl::convolution_forward(descriptor);
  else
    made.primitive = dnnl::deconvolution_forward(descriptor);
  return made;
}

ConvPrimitive Make(const OnnxseqDnnConv& c) {
  static constexpr Tag kChannelsLast[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
  const auto f32 = memory::data_type::f32;
  const Tag tag = kChannelsLast[c.axes - 1];
  const memory::desc x(Dims(c.batch, c.groups * c.in_channels, c.in, c.axes), f32, tag);
  const memory::desc y(Dims(c.batch, c.groups * c.out_channels, c.out, c.axes), f32, tag);
  const memory::desc w = WeightsDesc(c, false);
  const memory::desc b = c.has_bias != 0 ? memory::desc({c.groups * c.out_channels}, f32, Tag::a) : memory::desc();
  memory::dims strides, dilations, begin, end;
  for (int d = 0; d < c.axes; ++d) {
    const int64_t extent = (c.kernel[d] - 1) * c.dilation[d] + 1;
    strides.push_back(c.stride[d]);
    dilations.push_back(c.dilation[d] - 1);
    begin.push_back(c.begin[d]);
    // What the formula of the output's length has left over; a last part that no window reaches is left out by a
    // negative one.
    end.push_back(c.transposed != 0 ? (c.in[d] - 1) * c.stride[d] + extent - c.begin[d] - c.out[d]
                                    : (c.out[d] - 1) * c.stride[d] + extent - c.begin[d] - c.in[d]);
  }
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  try {
    if (c.transposed != 0) {
      return Ready(dnnl::deconvolution_forward::primitive_desc(Engine(), dnnl::prop_kind::forward_inference,
                                                               dnnl::algorithm::deconvolution_direct, x, w, b, y,
                                                               strides, dilations, begin, end, attributes),
                   c.has_bias != 0);
    }
    return Ready(dnnl::convolution_forward::primitive_desc(Engine(), dnnl::prop_kind::forward_inference,
                                                           dnnl::algorithm::convolution_direct, x, w, b, y, strides,
                                                           dilations, begin, end, attributes),
                 c.has_bias != 0);
  } catch (const dnnl::error& e) {
    if (e.status != dnnl_unimplemented && e.status != dnnl_invalid_arguments) throw;
    return {};
  }
}

memory Arranged(const OnnxseqDnnConv& c, const memory::desc& wanted, OnnxseqDnnWeights* weights, const float* w) {
  const std::lock_guard lock(weights->mutex);
  for (const auto& [desc, data] : weights->made)
    if (desc == wanted) return data;
  const memory from(WeightsDesc(c, true), Engine(), const_cast<float*>(w));
  memory to(wanted, Engine());
  dnnl::reorder(from, to).execute(Stream(), const_cast<memory&>(from), to);
  Stream().wait();
  weights->made.emplace_back(wanted, to);
  return to;
}

// Scratch of the calling thread, kept for the next call.
void* Scratch(size_t size) {
  thread_local std::unique_ptr<std::byte[]> buffer;
  thread_local size_t held = 0;
  constexpr size_t kAlignment = 64;
  if (held < size + kAlignment) {
    buffer.reset();
    held = 0;
    buffer.reset(new std::byte[size + kAlignment]);
    held = size + kAlignment;
  }
  const auto at = reinterpret_cast<uintptr_t>(buffer.get());
  return reinterpret_cast<void*>((at + kAlignment - 1) / kAlignment * kAlignment);
}

}  // namespace

OnnxseqDnnWeights* NewWeights() { return new (std::nothrow) OnnxseqDnnWeights; }
void FreeWeights(OnnxseqDnnWeights* weights) { delete weights; }

int Conv(const OnnxseqDnnConv* conv, OnnxseqDnnWeights* weights, const float* w, const float* bias, const float* x,
         float* y) try {
  static Lru<ConvPrimitive> primitives(kPrimitives);
  const OneThread one_thread;
  const std::shared_ptr<const ConvPrimitive> made =
      primitives.Get(std::string_view(reinterpret_cast<const char*>(conv), sizeof *conv), [&] { return Make(*conv); });
  if (!made->primitive) return kDnnNotServed;
  const memory arranged = Arranged(*conv, made->w, weights, w);
  std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, memory(made->x, Engine(), const_cast<float*>(x))},
                                            {DNNL_ARG_WEIGHTS, arranged},
                                            {DNNL_ARG_DST, memory(made->y, Engine(), y)}};
  if (conv->has_bias != 0) arguments.emplace(DNNL_ARG_BIAS, memory(made->b, Engine(), const_cast<float*>(bias)));
  if (made->scratch > 0) {
    const memory::desc desc({static_cast<int64_t>(made->scratch)}, memory::data_type::u8, Tag::a);
    arguments.emplace(DNNL_ARG_SCRATCHPAD, memory(desc, Engine(), Scratch(made->scratch)));
  }
  made->primitive.execute(Stream(), arguments);
  Stream().wait();
  return kDnnDone;
} catch (const std::exception&) {
  return kDnnNotServed;
}

}  // namespace dnn_module
