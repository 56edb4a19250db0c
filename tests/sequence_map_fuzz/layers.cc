// SPDX-License-Identifier: Apache-2.0
// Products of matrices, convolutions and what works on images.
#include "body_maker.h"

namespace ONNX_LIGHT_NAMESPACE {

Known BodyMaker::Matrix() {
  const Known* found = Find([](const std::vector<Mark>& dims) { return dims.size() == 2 && IsSize(dims[1]); });
  if (found != nullptr) return *found;
  const Known x = FloatOfRank(1, 1);
  const std::string column = Ints({1}).name;
  return Emit(Kind::kFloat, fmt::format("Unsqueeze ({}, {})", x.name, column), {x.dims[0], 1});
}

void BodyMaker::Products() {
  const int n = random_.Int(1, 4);
  switch (random_.Int(0, 7)) {
    case 0:
    case 1: {  // rows times weights
      const Known* x = Find([](const std::vector<Mark>& dims) { return !dims.empty() && IsSize(dims.back()); });
      const Known rows = x == nullptr ? Matrix() : *x;
      std::vector<int> weights{rows.dims.back(), n};
      if (random_.OneIn(6)) weights.insert(weights.begin(), random_.Int(1, 2));
      std::vector<Mark> dims = rows.dims;
      dims.back() = n;
      const bool deep = weights.size() > 2 && weights[0] > 1;
      if (deep && dims.size() < 3) dims.insert(dims.begin(), weights[0]);
      Emit(Kind::kFloat, fmt::format("MatMul ({}, {})", rows.name, Numbers(weights)), dims);
      return;
    }
    case 2: {  // weights times columns
      const Known* x =
          Find([](const std::vector<Mark>& dims) { return dims.size() >= 2 && IsSize(dims[dims.size() - 2]); });
      if (x == nullptr) return;
      std::vector<Mark> dims = x->dims;
      Mark& rows = dims[dims.size() - 2];
      const std::string weights = Numbers({n, rows});
      rows = n;
      const std::string name = x->name;
      Emit(Kind::kFloat, fmt::format("MatMul ({}, {})", weights, name), dims);
      return;
    }
    case 3:
    case 4: {  // a matrix of the element with itself, over its first or its second dim
      const Known* found = Find([](const std::vector<Mark>& dims) { return dims.size() == 2; });
      const Known x = found == nullptr ? Matrix() : *found;
      const std::string turned = Hidden(fmt::format("Transpose <perm = [1, 0]> ({})", x.name));
      const bool first = random_.OneIn(2);
      Emit(Kind::kFloat, fmt::format("MatMul ({}, {})", first ? turned : x.name, first ? x.name : turned),
           first ? std::vector<Mark>{x.dims[1], x.dims[1]} : std::vector<Mark>{x.dims[0], x.dims[0]});
      return;
    }
    case 5: {  // rows of a ragged matrix times a matrix that each element has
      const Known x = Matrix();
      const Known* other =
          Find([&](const std::vector<Mark>& dims) { return dims.size() == 2 && dims[0] == x.dims[1]; });
      if (other == nullptr) return;
      const std::string name = other->name;
      const std::vector<Mark> dims{x.dims[0], other->dims[1]};
      Emit(Kind::kFloat, fmt::format("MatMul ({}, {})", x.name, name), dims);
      return;
    }
    default: {
      const Known x = Matrix();
      const int k = x.dims[1];
      if (random_.OneIn(6) && IsSize(x.dims[0])) {
        Emit(Kind::kFloat, fmt::format("Gemm <transA = 1> ({}, {})", x.name, Numbers({x.dims[0], n})), {k, n});
        return;
      }
      const bool turned = random_.OneIn(2);
      const std::string weights = Numbers(turned ? std::vector<int>{n, k} : std::vector<int>{k, n});
      std::string bias;
      if (!random_.OneIn(3)) bias = ", " + Numbers(random_.OneIn(2) ? std::vector<int>{n} : std::vector<int>{1, n});
      Emit(Kind::kFloat,
           fmt::format("Gemm <transB = {}, alpha = {}, beta = 0.5> ({}, {}{})", turned ? 1 : 0,
                       random_.OneIn(2) ? "1.0" : "0.25", x.name, weights, bias),
           {x.dims[0], n});
    }
  }
}

void BodyMaker::Images() {
  const Known* found = Find([](const std::vector<Mark>& dims) { return dims.size() == 3 && IsSize(dims[1]); });
  Known x;
  if (found != nullptr) {
    x = *found;
  } else {
    const Known rows = Matrix();
    const int at = random_.OneIn(3) ? 0 : 1;  // steps as images, or as one image's length
    const std::string axes = Ints({at}).name;
    std::vector<Mark> dims = rows.dims;
    dims.insert(dims.begin() + at, 1);
    if (at == 0) {
      // [1,F,T]
      const std::string turned = Hidden(fmt::format("Transpose <perm = [1, 0]> ({})", rows.name));
      dims = {1, rows.dims[1], rows.dims[0]};
      x = Emit(Kind::kFloat, fmt::format("Unsqueeze ({}, {})", turned, axes), dims);
    } else {
      x = Emit(Kind::kFloat, fmt::format("Unsqueeze ({}, {})", rows.name, axes), dims);
    }
  }
  const int channels = x.dims[1], out = random_.Int(1, 3), size = random_.OneIn(2) ? 3 : 1;
  const bool same = random_.OneIn(2);
  const std::vector<Mark> dims{x.dims[0], out, size == 1 || same ? x.dims[2] : New()};
  const std::string pads = same && size == 3 ? ", pads = [1, 1]" : "";
  const std::string bias = random_.OneIn(2) ? ", " + Numbers({out}) : "";
  if (random_.OneIn(4)) {
    Emit(Kind::kFloat,
         fmt::format("ConvTranspose <kernel_shape = [{}]{}> ({}, {}{})", size, pads, x.name,
                     Numbers({channels, out, size}), bias),
         {x.dims[0], out, size == 1 || same ? x.dims[2] : New()});
    return;
  }
  Emit(Kind::kFloat,
       fmt::format("Conv <kernel_shape = [{}]{}> ({}, {}{})", size, pads, x.name, Numbers({out, channels, size}), bias),
       dims);
}

void BodyMaker::Pools() {
  const Known* found = Find([](const std::vector<Mark>& dims) { return dims.size() == 3; });
  if (found == nullptr) Images();
  const Known x = found == nullptr ? values_.back() : *found;
  const std::vector<Mark> global{x.dims[0], x.dims[1], 1};
  switch (random_.Int(0, 8)) {
    case 0:
      Emit(Kind::kFloat, fmt::format("GlobalAveragePool ({})", x.name), global);
      return;
    case 1:
      Emit(Kind::kFloat, fmt::format("GlobalMaxPool ({})", x.name), global);
      return;
    case 2:
      Emit(Kind::kFloat, fmt::format("GlobalLpPool ({})", x.name), global);
      return;
    case 3:
      Emit(Kind::kFloat, fmt::format("LRN <size = 3> ({})", x.name), x.dims);
      return;
    case 4:
    case 5: {
      if (!IsSize(x.dims[1])) return;
      const std::string scale = Numbers({x.dims[1]}), bias = Numbers({x.dims[1]});
      if (random_.OneIn(3)) {
        Emit(Kind::kFloat, fmt::format("InstanceNormalization ({}, {}, {})", x.name, scale, bias), x.dims);
      } else if (random_.OneIn(2)) {
        Emit(Kind::kFloat,
             fmt::format("GroupNormalization <num_groups = {}> ({}, {}, {})", x.dims[1], x.name, scale, bias), x.dims);
      } else {
        const std::string mean = Numbers({x.dims[1]}), raw = Numbers({x.dims[1]});
        const std::string variance = Hidden(fmt::format("Abs ({})", raw));
        Emit(Kind::kFloat, fmt::format("BatchNormalization ({}, {}, {}, {}, {})", x.name, scale, bias, mean, variance),
             x.dims);
      }
      return;
    }
    default: {
      static const std::vector<std::string> kPools{"MaxPool", "AveragePool", "LpPool"};
      const bool same = random_.OneIn(2);
      Emit(Kind::kFloat,
           fmt::format("{} <kernel_shape = [{}]{}> ({})", random_.Of(kPools), same ? 3 : 2,
                       same ? ", pads = [1, 1]" : "", x.name),
           {x.dims[0], x.dims[1], same ? x.dims[2] : New()});
    }
  }
}

// Blocks of images to channels and back, from rows of eight or four numbers.
void BodyMaker::Blocks() {
  const Known x = Matrix();
  const bool to_depth = random_.OneIn(2);
  const int columns = 8;
  const Known rows =
      Emit(Kind::kFloat, fmt::format("MatMul ({}, {})", x.name, Numbers({x.dims[1], columns})), {x.dims[0], columns});
  const std::string target = Ints(to_depth ? std::vector<int>{-1, 1, 2, 4} : std::vector<int>{-1, 8, 1, 1}).name;
  const std::string images = Hidden(fmt::format("Reshape ({}, {})", rows.name, target));
  Emit(Kind::kFloat, fmt::format("{} <blocksize = 2> ({})", to_depth ? "SpaceToDepth" : "DepthToSpace", images),
       to_depth ? std::vector<Mark>{x.dims[0], 4, 1, 2} : std::vector<Mark>{x.dims[0], 2, 2, 2});
}

}  // namespace ONNX_LIGHT_NAMESPACE
