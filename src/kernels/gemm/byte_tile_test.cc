// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/byte_tile.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Every kernel this CPU can run, under every shape of a tile, against sums in 64 bits; and it writes nothing else.
TEST(ByteTile, EveryKernelSumsExactly) {
  std::mt19937 engine(3);
  for (const ByteKernel& kernel : ByteKernels()) {
    const int64_t lanes = kernel.lanes == 0 ? 5 : kernel.lanes;
    for (int rows = 0; rows <= 8; ++rows)
      for (int vectors = 1; vectors <= 4; ++vectors)
        for (int panels = 1; panels <= 9; ++panels)
          for (const int64_t quads : {0, 1, 7}) {
            // Quads with something between them, too.
            const int64_t a_row = quads * kByteQuad + 3, quad_bytes = (vectors * lanes + panels % 3) * kByteQuad,
                          panel_bytes = quads * quad_bytes + 1;
            std::vector<uint8_t> a(static_cast<size_t>(rows * a_row));
            std::vector<int8_t> b(static_cast<size_t>(panels * panel_bytes));
            // Extremes, too: sums of two products of them do not fit in 16 bits.
            for (uint8_t& byte : a) byte = static_cast<uint8_t>(engine() % 3 == 0 ? 255 : engine());
            for (int8_t& byte : b) byte = static_cast<int8_t>(engine() % 3 == 0 ? -128 : engine());
            std::vector<int32_t> sums(static_cast<size_t>(rows * panels * vectors * lanes) + 1, 77);
            kernel.multiply({.a = a.data(),
                             .a_row = a_row,
                             .rows = rows,
                             .quads = quads,
                             .b = b.data(),
                             .panel_bytes = panel_bytes,
                             .quad_bytes = quad_bytes,
                             .panels = panels,
                             .vectors = vectors,
                             .lanes = lanes,
                             .far = panels % 2 == 0,
                             .sums = sums.data()});
            for (int64_t r = 0, at = 0; r < rows; ++r)
              for (int64_t panel = 0; panel < panels; ++panel)
                for (int64_t column = 0; column < vectors * lanes; ++column, ++at) {
                  int64_t sum = 0;
                  for (int64_t k = 0; k < quads * kByteQuad; ++k)
                    sum += int64_t{a[static_cast<size_t>(r * a_row + k)]} *
                           b[static_cast<size_t>(panel * panel_bytes + k / kByteQuad * quad_bytes + column * kByteQuad +
                                                 k % kByteQuad)];
                  ASSERT_EQ(sums[static_cast<size_t>(at)], sum)
                      << kernel.name << ", rows " << rows << ", vectors " << vectors << ", panels " << panels
                      << ", quads " << quads << ", sum " << at;
                }
            ASSERT_EQ(sums.back(), 77) << kernel.name;
          }
  }
}

TEST(ByteTile, EveryKernelSumsPlanesExactly) {
  std::mt19937 engine(4);
  for (const ByteKernel& kernel : ByteKernels()) {
    const int64_t lanes = kernel.lanes == 0 ? 5 : kernel.lanes;
    for (int rows = 1; rows <= kernel.rows; ++rows)
      for (int vectors = 0; vectors <= 17; ++vectors)
        for (const int64_t quads : {0, 1, 7}) {
          const int64_t seen = vectors * lanes * kByteQuad, sums_row = vectors * lanes + 3;
          std::vector<int64_t> offsets;
          for (int64_t quad = 0; quad < quads; ++quad) offsets.push_back((quad * 13) % 31);
          std::vector<uint8_t> x(static_cast<size_t>(seen + 31));
          std::vector<int8_t> w(static_cast<size_t>(quads * rows * kByteQuad));
          for (uint8_t& byte : x) byte = static_cast<uint8_t>(engine() % 3 == 0 ? 255 : engine());
          for (int8_t& byte : w) byte = static_cast<int8_t>(engine() % 3 == 0 ? -128 : engine());
          const int32_t starts[] = {0, 1, -2, 3000, -40, 5};
          std::vector<int32_t> sums(static_cast<size_t>(rows * sums_row), 77);
          kernel.multiply_planes({.x = x.data(),
                                  .offsets = offsets.data(),
                                  .quads = quads,
                                  .w = w.data(),
                                  .rows = rows,
                                  .starts = starts,
                                  .vectors = vectors,
                                  .lanes = lanes,
                                  .sums = sums.data(),
                                  .sums_row = sums_row});
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t at = 0; at < sums_row; ++at) {
              int64_t sum = starts[r];
              for (int64_t k = 0; k < quads * kByteQuad && at < vectors * lanes; ++k)
                sum += int64_t{x[static_cast<size_t>(offsets[static_cast<size_t>(k / kByteQuad)] + at * kByteQuad +
                                                     k % kByteQuad)]} *
                       w[static_cast<size_t>((k / kByteQuad * rows + r) * kByteQuad + k % kByteQuad)];
              ASSERT_EQ(sums[static_cast<size_t>(r * sums_row + at)], at < vectors * lanes ? sum : 77)
                  << kernel.name << ", rows " << rows << ", vectors " << vectors << ", quads " << quads;
            }
        }
  }
}

TEST(ByteTile, KernelsByLanes) {
  EXPECT_EQ(ByteKernels().back().name, "plain");
  EXPECT_EQ(ByteKernelFor(3).name, "plain");
  for (const ByteKernel& kernel : ByteKernels())
    if (kernel.lanes > 0) {
      EXPECT_EQ(ByteKernelFor(kernel.lanes).lanes, kernel.lanes);
    }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE::kernels
