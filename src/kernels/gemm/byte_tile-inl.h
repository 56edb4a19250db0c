// SPDX-License-Identifier: Apache-2.0
// The loops of byte_tile.cc, once for each instruction set: included into a namespace that has
//   Vec, Factor, Column       sums of a vector; four bytes of a row, spread; a vector of columns, four bytes of each
//   Zero, Spread, Load, Dot, Store
//   SpreadWeights, LoadPlane     the same the other way round: four bytes of a row as a column, a vector as factors
//   kLanes                    of a vector
//   kMostRows                 rows of a tile
//   kMostVectors<rows>        vectors of columns a tile of `rows` rows takes, so that its sums stay in registers
// There is no include guard: it is meant to be included again.

template <int kRows, int kPanels, int kVectors, bool kFar>
inline void MultiplyTile(const ByteTile& tile, int row, int panel) {
  constexpr int kAll = kPanels * kVectors;
  Vec sums[kRows][kAll];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < kAll; ++v) sums[r][v] = Zero();
  const uint8_t* a = tile.a + row * tile.a_row;
  const int8_t* b = tile.b + panel * tile.panel_bytes;
  for (int64_t quad = 0; quad < tile.quads; ++quad, a += kByteQuad, b += tile.quad_bytes) {
    Factor factors[kRows];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) factors[r] = Spread(a + r * tile.a_row);
#pragma GCC unroll 16
    for (int v = 0; v < kAll; ++v) {
      const int8_t* const from = b + (v / kVectors) * tile.panel_bytes + (v % kVectors) * kLanes * kByteQuad;
      if constexpr (kFar) __builtin_prefetch(from + kFarAhead);
      const Column column = Load(from);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sums[r][v] = Dot(sums[r][v], factors[r], column);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < kAll; ++v)
      Store(tile.sums + (((row + r) * tile.panels + panel) * kVectors + v) * kLanes, sums[r][v]);
}

// kPanels at once from `panel` on, then what is left by halves.
template <int kRows, int kVectors, int kPanels>
inline void MultiplyPanels(const ByteTile& tile, int row, int panel) {
  for (; panel + kPanels <= tile.panels; panel += kPanels) {
    // Several rows have enough to do while panels come.
    if (kRows == 1 && tile.far)
      MultiplyTile<kRows, kPanels, kVectors, kRows == 1>(tile, row, panel);
    else
      MultiplyTile<kRows, kPanels, kVectors, false>(tile, row, panel);
  }
  if constexpr (kPanels > 1) MultiplyPanels<kRows, kVectors, kPanels / 2>(tile, row, panel);
}

template <int kRows, int kVectors>
inline constexpr int kPanelsAtOnce = kMostVectors<kRows> < kVectors ? 1 : kMostVectors<kRows> / kVectors;

// The next `rows` rows, at most kRows.
template <int kRows>
inline void MultiplyRows(const ByteTile& tile, int row, int rows) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return MultiplyRows<kRows - 1>(tile, row, rows);
  }
  switch (tile.vectors) {
    case 1:
      return MultiplyPanels<kRows, 1, (kPanelsAtOnce<kRows, 1> > 8 ? 8 : kPanelsAtOnce<kRows, 1>)>(tile, row, 0);
    case 2:
      return MultiplyPanels<kRows, 2, kPanelsAtOnce<kRows, 2>>(tile, row, 0);
    case 3:
      return MultiplyPanels<kRows, 3, kPanelsAtOnce<kRows, 3>>(tile, row, 0);
    default:
      return MultiplyPanels<kRows, 4, kPanelsAtOnce<kRows, 4>>(tile, row, 0);
  }
}

template <int kRows, int kVectors>
inline void PlanesTile(const BytePlanes& planes, int vector) {
  Vec sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) sums[r][v] = SpreadSum(planes.starts[r]);
  const uint8_t* const x = planes.x + vector * kLanes * kByteQuad;
  const int8_t* w = planes.w;
  for (int64_t quad = 0; quad < planes.quads; ++quad, w += kRows * kByteQuad) {
    Column weights[kRows];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) weights[r] = SpreadWeights(w + r * kByteQuad);
    const uint8_t* const from = x + planes.offsets[quad];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const Factor seen = LoadPlane(from + v * kLanes * kByteQuad);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) sums[r][v] = Dot(sums[r][v], seen, weights[r]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) Store(planes.sums + r * planes.sums_row + (vector + v) * kLanes, sums[r][v]);
}

template <int kRows, int kVectors>
inline void PlanesVectors(const BytePlanes& planes, int vector) {
  for (; vector + kVectors <= planes.vectors; vector += kVectors) PlanesTile<kRows, kVectors>(planes, vector);
  if constexpr (kVectors > 1) PlanesVectors<kRows, kVectors / 2>(planes, vector);
}

template <int kRows>
inline void PlanesRows(const BytePlanes& planes) {
  if constexpr (kRows > 1) {
    if (planes.rows < kRows) return PlanesRows<kRows - 1>(planes);
  }
  PlanesVectors<kRows, (kMostVectors<kRows> > 8 ? 8 : kMostVectors<kRows>)>(planes, 0);
}
inline void MultiplyPlanes(const BytePlanes& planes) { PlanesRows<kMostRows>(planes); }

inline void Multiply(const ByteTile& tile) {
  for (int row = 0; row < tile.rows; row += kMostRows)
    MultiplyRows<kMostRows>(tile, row, tile.rows - row < kMostRows ? tile.rows - row : kMostRows);
}
