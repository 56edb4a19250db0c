// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv/byte_conv.h"

#include <gtest/gtest.h>

#include <random>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

struct Case {
  int64_t batch, groups, in_channels, out_channels;
  Window window;
};

void ExpectEqualsDefinition(const Case& c, bool x_signed, bool w_signed, bool zero_by_channel) {
  std::mt19937 random(1);
  const int64_t in = c.window.InSize(), out = c.window.OutSize(), places = c.window.KernelSize();
  const int64_t channels_in = c.groups * c.in_channels, channels_out = c.groups * c.out_channels;
  std::vector<uint8_t> x(static_cast<size_t>(c.batch * channels_in * in)),
      w(static_cast<size_t>(channels_out * c.in_channels * places));
  for (uint8_t& byte : x) byte = static_cast<uint8_t>(random());
  for (uint8_t& byte : w) byte = static_cast<uint8_t>(random());
  std::vector<int32_t> zeros;
  for (int64_t i = 0; i < (zero_by_channel ? channels_out : 1); ++i)
    zeros.push_back(static_cast<int32_t>(random() % 100));
  const int32_t x_zero = x_signed ? -5 : 131;
  const auto at = [](const std::vector<uint8_t>& bytes, int64_t i, bool is_signed) {
    const uint8_t byte = bytes[static_cast<size_t>(i)];
    return is_signed ? int32_t{static_cast<int8_t>(byte)} : int32_t{byte};
  };
  const PackedByteConv packed(c.groups, c.in_channels, c.out_channels, places, w.data(), w_signed, zeros);
  ThreadTeam team(3);
  for (ThreadTeam* const on : {static_cast<ThreadTeam*>(nullptr), &team}) {
    std::vector<int32_t> y(static_cast<size_t>(c.batch * channels_out * out), 777);
    packed.Run(
        c.batch, c.window, x.data(), x_signed, x_zero,
        [&](const PackedByteConv::Sums& s) {
          for (int64_t o = 0; o < s.places; ++o)
            for (int64_t m = 0; m < s.channels; ++m)
              y[static_cast<size_t>((s.image * channels_out + s.channel + m) * out + s.first + o)] =
                  s.sums[o * s.channels + m];
        },
        on);
    const std::vector<int64_t> table = WindowTable(c.window, 0, out);
    for (int64_t i = 0; i < c.batch; ++i)
      for (int64_t m = 0; m < channels_out; ++m)
        for (int64_t o = 0; o < out; ++o) {
          int32_t sum = 0;
          for (int64_t l = 0; l < c.in_channels; ++l)
            for (int64_t k = 0; k < places; ++k) {
              const int64_t seen = table[static_cast<size_t>(o * places + k)];
              if (seen < 0) continue;
              const int64_t channel = m / c.out_channels * c.in_channels + l;
              sum += (at(x, (i * channels_in + channel) * in + seen, x_signed) - x_zero) *
                     (at(w, (m * c.in_channels + l) * places + k, w_signed) -
                      zeros[zero_by_channel ? static_cast<size_t>(m) : 0]);
            }
          ASSERT_EQ(y[static_cast<size_t>((i * channels_out + m) * out + o)], sum) << i << " " << m << " " << o;
        }
  }
}

TEST(ByteConv, EqualsTheDefinition) {
  const Window line{{9}, {5}, {3}, {2}, {1}, {1}, {1}},
      plane{{20, 18}, {20, 18}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      dilated{{7, 8}, {3, 4}, {3, 2}, {1, 1}, {2, 4}, {0, 0}, {0, 0}},
      point{{5, 4}, {5, 4}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      stepped{{5, 4}, {3, 2}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}};
  for (const Case& c :
       {Case{2, 1, 3, 5, line}, Case{1, 1, 17, 16, plane}, Case{1, 2, 3, 2, dilated}, Case{2, 1, 33, 7, point},
        Case{1, 3, 2, 2, point}, Case{2, 1, 1, 1, point}, Case{1, 4, 1, 1, point}, Case{1, 1, 4, 4, stepped},
        Case{2, 19, 1, 1, plane}, Case{1, 3, 1, 2, line}})
    for (int kind = 0; kind < 8; ++kind) {
      SCOPED_TRACE(testing::Message() << c.groups << " groups of " << c.in_channels << ", kind " << kind);
      ExpectEqualsDefinition(c, (kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0);
      if (testing::Test::HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
