// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer: how often each n-gram of a pool is found in a vector, or in each row of a matrix; its items may be
// up to max_skip_count apart, all by the same number. Mode TF counts, IDF gives the weight of what is there at all,
// TFIDF the weight for each time. Weights are those of the n-grams in the pool, as the specification and onnxruntime
// have it; the reference evaluator of the onnx package takes them for those of places in the output.
// https://onnx.ai/onnx/operators/onnx__TfIdfVectorizer.html
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr std::string_view kModes[] = {"TF", "IDF", "TFIDF"};
enum Mode { kTf, kIdf, kTfIdf };

constexpr int64_t kMaxIndex = std::numeric_limits<int32_t>::max();

int64_t OutputSize(const NodeAttributes& attrs) {
  int64_t size = 0;
  for (const int64_t index : attrs.Ints("ngram_indexes")) {
    if (index < 0 || index > kMaxIndex)
      FailAttribute("ngram_indexes", fmt::format("has {}, must be in [0, {}]", index, kMaxIndex));
    size = std::max(size, index + 1);
  }
  return size;
}

// The n-grams as paths of a tree. Items are numbered: those in no n-gram lead nowhere.
struct Pool : OpState {
  std::unordered_map<std::string, uint32_t> texts;
  std::unordered_map<int64_t, uint32_t> numbers;
  std::unordered_map<uint64_t, uint32_t> steps;  // (node, item) -> node; node 0 is the root
  std::vector<int64_t> grams;                    // of each node: which n-gram of the pool it is, -1 for none
  std::vector<int64_t> places;                   // of each n-gram: where it is counted
  Mode mode = kTf;
  int64_t shortest = 1, longest = 1, skips = 0, size = 0;
  std::vector<float> weights;

  static uint64_t Key(uint32_t node, uint32_t item) { return (static_cast<uint64_t>(node) << 32) | item; }
  // Of a Pool or a const Pool.
  template <class T, class Self>
  static auto& Numbers(Self& pool) {
    if constexpr (std::is_same_v<T, std::string>) {
      return pool.texts;
    } else {
      return pool.numbers;
    }
  }
  // False when it is there already.
  bool Add(std::span<const uint32_t> items, int64_t gram) {
    uint32_t node = 0;
    for (const uint32_t item : items) {
      const auto [step, is_new] = steps.try_emplace(Key(node, item), static_cast<uint32_t>(grams.size()));
      if (is_new) grams.push_back(-1);
      node = step->second;
    }
    if (grams[node] >= 0) return false;
    grams[node] = gram;
    return true;
  }
};

template <class T>
void AddGrams(const NodeAttributes& attrs, std::string_view name, const std::vector<T>& items, Pool& pool) {
  std::vector<uint32_t> numbered;
  for (const T& item : items) {
    auto& numbers = Pool::Numbers<T>(pool);
    numbered.push_back(numbers.try_emplace(item, static_cast<uint32_t>(numbers.size())).first->second);
  }
  const std::vector<int64_t> starts = attrs.Ints("ngram_counts");
  const auto total = static_cast<int64_t>(items.size());
  if (static_cast<int64_t>(starts.size()) < pool.longest)
    FailAttribute("ngram_counts", fmt::format("has {} elements for n-grams of up to {}", starts.size(), pool.longest));
  int64_t gram = 0;
  for (size_t n = 1; n <= starts.size(); ++n) {
    const int64_t begin = starts[n - 1], end = n < starts.size() ? starts[n] : total;
    if (begin < 0 || begin > end || end > total)
      FailAttribute("ngram_counts", fmt::format("{} to {} is no part of {} items", begin, end, total));
    if ((end - begin) % static_cast<int64_t>(n) != 0)
      FailAttribute("ngram_counts", fmt::format("{} items from {} on are not n-grams of {}", end - begin, begin, n));
    for (int64_t at = begin; at < end; at += static_cast<int64_t>(n), ++gram) {
      if (static_cast<int64_t>(n) < pool.shortest || static_cast<int64_t>(n) > pool.longest) continue;
      if (!pool.Add(std::span(numbered).subspan(static_cast<size_t>(at), n), gram))
        FailAttribute(name, fmt::format("has an n-gram twice, the second at {}", at));
    }
  }
  const auto expected = static_cast<int64_t>(pool.places.size());
  if (gram != expected) FailAttribute("ngram_indexes", fmt::format("has {} elements for {} n-grams", expected, gram));
}

std::unique_ptr<OpState> Prepare(const PrepareContext& ctx) {
  const NodeAttributes attrs = ctx.attrs();
  auto pool = std::make_unique<Pool>();
  const std::string mode = attrs.String("mode", {});
  const auto* const found = std::ranges::find(kModes, mode);
  if (found == std::end(kModes)) FailAttribute("mode", fmt::format("is \"{}\", must be TF, IDF or TFIDF", mode));
  pool->mode = static_cast<Mode>(found - std::begin(kModes));
  pool->shortest = attrs.Int("min_gram_length");
  pool->longest = attrs.Int("max_gram_length");
  pool->skips = attrs.Int("max_skip_count");
  if (pool->shortest < 1) FailAttribute("min_gram_length", fmt::format("is {}, must be 1 or more", pool->shortest));
  if (pool->longest < pool->shortest)
    FailAttribute("max_gram_length",
                  fmt::format("is {}, must not be below min_gram_length, {}", pool->longest, pool->shortest));
  if (pool->skips < 0) FailAttribute("max_skip_count", fmt::format("is {}, must not be negative", pool->skips));
  pool->size = OutputSize(attrs);
  pool->places = attrs.Ints("ngram_indexes");
  pool->weights = attrs.Floats("weights");
  if (pool->mode == kTf || pool->weights.empty()) pool->weights.assign(pool->places.size(), 1);
  if (pool->weights.size() != pool->places.size())
    FailAttribute("weights", fmt::format("has {} elements for {} n-grams", pool->weights.size(), pool->places.size()));
  pool->grams.push_back(-1);
  const std::vector<std::string> texts = attrs.Strings("pool_strings");
  const std::vector<int64_t> numbers = attrs.Ints("pool_int64s");
  if (texts.empty() == numbers.empty()) FailAttribute("pool_int64s", "is required, or 'pool_strings', but not both");
  if (texts.empty()) {
    AddGrams(attrs, "pool_int64s", numbers, *pool);
  } else {
    AddGrams(attrs, "pool_strings", texts, *pool);
  }
  return pool;
}

// Stands for an item of no n-gram.
constexpr uint32_t kOther = ~0u;

template <class T>
std::vector<uint32_t> Numbered(const Pool& pool, const Tensor& x) {
  std::vector<uint32_t> items;
  items.reserve(static_cast<size_t>(x.NumElements()));
  const auto& numbers = Pool::Numbers<T>(pool);
  for (const T& item : x.View<T>()) {
    const auto found = numbers.find(item);
    items.push_back(found == numbers.end() ? kOther : found->second);
  }
  return items;
}

void CountInto(const Pool& pool, std::span<const uint32_t> row, std::span<float> row_of_y) {
  const auto length = static_cast<int64_t>(row.size());
  for (int64_t apart = 1; apart - 1 <= pool.skips; ++apart) {
    // Single items are the same however far apart, and counted once.
    const int64_t shortest = apart == 1 ? pool.shortest : std::max<int64_t>(2, pool.shortest);
    if (shortest > pool.longest || (shortest > 1 && apart >= length)) break;
    for (int64_t start = 0; start < length; ++start) {
      uint32_t node = 0;
      for (int64_t n = 1, at = start; n <= pool.longest && at < length; ++n, at += apart) {
        const auto step = pool.steps.find(Pool::Key(node, row[static_cast<size_t>(at)]));
        if (step == pool.steps.end()) break;
        node = step->second;
        if (n < shortest || pool.grams[node] < 0) continue;
        const auto gram = static_cast<size_t>(pool.grams[node]);
        float& to = row_of_y[static_cast<size_t>(pool.places[gram])];
        to = pool.weights[gram] + (pool.mode == kIdf ? 0 : to);
      }
    }
  }
}

void Run(RunContext& ctx) {
  const Pool& pool = ctx.state<Pool>();
  const Tensor x = ctx.tensor(0);
  if (x.rank() != 1 && x.rank() != 2) ctx.FailInput(0, fmt::format("must have rank 1 or 2, got {}", x.TypeString()));
  if ((x.dtype() == TensorType::kString) == pool.texts.empty())
    ctx.FailInput(0, fmt::format("must have elements as the pool, got {}", x.TypeString()));
  const std::vector<uint32_t> items = x.dtype() == TensorType::kString  ? Numbered<std::string>(pool, x)
                                      : x.dtype() == TensorType::kInt32 ? Numbered<int32_t>(pool, x)
                                                                        : Numbered<int64_t>(pool, x);
  const int64_t rows = x.rank() == 1 ? 1 : x.dim(0), length = x.dim(x.rank() - 1);
  Tensor& y = ctx.AllocateOutput(0, TensorType::kFloat, x.rank() == 1 ? Shape{pool.size} : Shape{rows, pool.size});
  const std::span<float> all = y.MutableView<float>();
  const int64_t work = std::max<int64_t>(1, 16 * length * (1 + std::min(pool.skips, length)));
  ctx.ParallelFor(rows, std::max<int64_t>(1, kElementGrain / work), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const std::span<float> to = all.subspan(static_cast<size_t>(r * pool.size), static_cast<size_t>(pool.size));
      std::ranges::fill(to, 0.0f);
      CountInto(pool, std::span(items).subspan(static_cast<size_t>(r * length), static_cast<size_t>(length)), to);
    }
  });
}

void ShapeRule(InferScope& scope) {
  const OptimDim size = OutputSize(scope.attrs());
  const OptimShape& x = scope.InputShape(0);
  if (x.IsUnknown()) return scope.SetTensor(0, TensorType::kFloat, x);
  if (x.Rank() != 1 && x.Rank() != 2)
    scope.Fail(scope.InputSubject(0),
               fmt::format("must have rank 1 or 2, got {}", InferScope::Describe(scope.Input(0))));
  scope.SetTensor(0, TensorType::kFloat, x.Rank() == 1 ? OptimShape{size} : OptimShape{x[0], size});
}

}  // namespace

std::span<const OpDef> tf_idf_vectorizer_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "TfIdfVectorizer",
       .since_version = 9,
       .inputs = {{"X", {TensorType::kString, TensorType::kInt32, TensorType::kInt64}}},
       .outputs = {{"Y", {TensorType::kFloat}}},
       .attributes = {{"max_gram_length", AttrKind::kInt, true},
                      {"max_skip_count", AttrKind::kInt, true},
                      {"min_gram_length", AttrKind::kInt, true},
                      {"mode", AttrKind::kString, true},
                      {"ngram_counts", AttrKind::kInts, true},
                      {"ngram_indexes", AttrKind::kInts, true},
                      {"pool_int64s", AttrKind::kInts},
                      {"pool_strings", AttrKind::kStrings},
                      {"weights", AttrKind::kFloats}},
       .shape = ShapeRule,
       .prepare = Prepare,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
