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
  std::vector<int32_t> added(zero_by_channel ? static_cast<size_t>(channels_out) : 0);
  for (int32_t& value : added) value = static_cast<int32_t>(random() % 1000);
  const PackedByteConv packed(c.groups, c.in_channels, c.out_channels, c.window.kernel, w.data(), w_signed, zeros);
  ThreadTeam team(3);
  for (ThreadTeam* const on : {static_cast<ThreadTeam*>(nullptr), &team}) {
    std::vector<int32_t> y(static_cast<size_t>(c.batch * channels_out * out), 777);
    packed.Run(
        c.batch, c.window, x.data(), x_signed, x_zero, added,
        [](int64_t, const int32_t* sums, int64_t n, void* to) { std::copy_n(sums, n, static_cast<int32_t*>(to)); },
        sizeof(int32_t), y.data(), on);
    for (int64_t i = 0; i < c.batch; ++i)
      for (int64_t m = 0; m < channels_out; ++m) {
        const int64_t group = m / c.out_channels;
        std::vector<int32_t> sums(static_cast<size_t>(out));
        ByteConvReference(c.in_channels, c.window, x.data() + (i * channels_in + group * c.in_channels) * in, x_signed,
                          x_zero, w.data() + m * c.in_channels * places, w_signed,
                          zeros[zero_by_channel ? static_cast<size_t>(m) : 0], sums.data());
        for (int64_t o = 0; o < out; ++o)
          ASSERT_EQ(y[static_cast<size_t>((i * channels_out + m) * out + o)],
                    sums[static_cast<size_t>(o)] + (added.empty() ? 0 : added[static_cast<size_t>(m)]))
              << i << " " << m << " " << o;
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
