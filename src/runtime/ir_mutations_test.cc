// SPDX-License-Identifier: Apache-2.0
// IR files damaged where it hurts: attributes, ports, edges, layers and types changed in good XML. Each is read,
// inferred and run, or ends in an error of the library, soon and with little memory. ONNXSEQ_IR_MUTANTS=first:count for
// others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <pugixml.hpp>
#include <random>
#include <sstream>

#include "base/checked.h"
#include "onnxseq/errors.h"
#include "onnxseq/session.h"
#include "openvino_io/ir_reader.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTexts[] = {"",
                                  "-1",
                                  "0",
                                  "1",
                                  "2",
                                  "7",
                                  "1000000",
                                  "2147483648",
                                  "nan",
                                  "inf",
                                  "1e400",
                                  "-0.5",
                                  "?",
                                  "...",
                                  "1..8",
                                  "1,2,3",
                                  "-1,0",
                                  "abc",
                                  "true",
                                  "f32",
                                  "i64",
                                  "string",
                                  "nf4",
                                  "dynamic",
                                  "u1",
                                  "max",
                                  "valid",
                                  "opset1",
                                  "opset99",
                                  "linear",
                                  "bidirectional",
                                  "same_upper",
                                  "9223372036854775807",
                                  "-9223372036854775808",
                                  "4611686018427387904,4"};
constexpr const char* kTypes[] = {"Result", "Parameter", "Const",  "ReLU",      "Add",     "Reshape",
                                  "Gather", "Split",     "Concat", "Transpose", "MatMul",  "LSTMSequence",
                                  "Loop",   "If",        "TopK",   "ReadValue", "Squeeze", "TensorIterator"};

std::string FileText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Mutant {
 public:
  Mutant(const std::string& xml, uint64_t seed) : random_(seed) {
    document_.load_string(xml.c_str());
    Collect(document_);
    for (uint64_t count = 1 + random_() % 3; count > 0; --count) Change();
  }
  std::string Xml() const {
    std::ostringstream text;
    document_.save(text, "", pugi::format_raw);
    return text.str();
  }
  uint64_t Pick(uint64_t count) { return random_() % count; }

 private:
  void Collect(pugi::xml_node node) {
    for (const pugi::xml_node child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      elements_.push_back(child);
      Collect(child);
    }
  }
  // One of the elements called so; null when there is none.
  pugi::xml_node Element(std::initializer_list<std::string_view> names) {
    std::vector<pugi::xml_node> found;
    for (const pugi::xml_node element : elements_)
      if (std::ranges::find(names, std::string_view(element.name())) != names.end()) found.push_back(element);
    return found.empty() ? pugi::xml_node() : found[Pick(found.size())];
  }
  pugi::xml_attribute Attribute(pugi::xml_node element) {
    const auto count = static_cast<uint64_t>(std::distance(element.attributes_begin(), element.attributes_end()));
    return count == 0 ? pugi::xml_attribute()
                      : *std::next(element.attributes_begin(), static_cast<int64_t>(Pick(count)));
  }
  void Change() {
    switch (Pick(8)) {
      case 0: {
        const pugi::xml_node data = Element({"data"});
        pugi::xml_node(data).remove_attribute(Attribute(data));
        break;
      }
      case 1:
        Attribute(Element({"data", "data", "input", "output", "port", "layer"}))
            .set_value(kTexts[Pick(std::size(kTexts))]);
        break;
      case 2:
        Attribute(Element({"data"})).set_value(kTexts[Pick(std::size(kTexts))]);
        break;
      case 3:
        Attribute(Element({"edge"})).set_value(static_cast<int>(Pick(20)));
        break;
      case 4: {  // an input comes from elsewhere
        const pugi::xml_node edge = Element({"edge"}), other = Element({"edge"});
        for (const char* name : {"from-layer", "from-port"})
          edge.attribute(name).set_value(other.attribute(name).value());
        break;
      }
      case 5:
        Element({"layer"}).attribute("type").set_value(kTypes[Pick(std::size(kTypes))]);
        break;
      case 6: {  // what stays among the elements is an empty handle's harmless shadow
        pugi::xml_node element = Element({"port", "dim", "data", "edge", "layer", "body", "port_map", "back_edges"});
        elements_.clear();
        element.parent().remove_child(element);
        Collect(document_);
        break;
      }
      default:
        Element({"data"}).attribute("shape").set_value(kTexts[Pick(std::size(kTexts))]);
        break;
    }
  }

  std::mt19937_64 random_;
  pugi::xml_document document_;
  std::vector<pugi::xml_node> elements_;
};

// Zeros, ones and twos; nothing when they would be many.
std::optional<Value> ValueFor(const ValueDescription& input, Mutant& mutant) {
  Shape shape;
  for (const ValueDescription::Dim& dim : input.shape.value_or(std::vector<ValueDescription::Dim>()))
    shape.push_back(dim.size ? *dim.size : static_cast<int64_t>(1 + mutant.Pick(3)));
  constexpr int64_t kMost = 1 << 20;
  const auto count = CheckedProduct(shape.dims());
  if (!count || *count > kMost) return std::nullopt;
  const auto filled = [&]<class T>(T) {
    Tensor tensor(kTensorTypeOf<T>, shape);
    for (T& element : tensor.MutableView<T>()) element = static_cast<T>(mutant.Pick(3));
    return Value(std::move(tensor));
  };
  if (input.type == "tensor(int64)") return filled(int64_t{});
  if (input.type == "tensor(int32)") return filled(int32_t{});
  if (input.type == "tensor(bool)") return filled(bool{});
  return filled(float{});
}

enum class Outcome : uint8_t { kRefused, kLoaded, kRan };

Outcome Try(const std::string& xml, const Bytes& weights, Mutant& mutant) {
  Outcome outcome = Outcome::kRefused;
  try {
    SessionOptions options;
    options.threads = 1;
    options.memory_limit = int64_t{1} << 28;
    const Session session = Session::FromModel(ParseIr(xml, weights), options);
    outcome = Outcome::kLoaded;
    ValueMap feeds;
    for (const ValueDescription& input : session.inputs()) {
      auto value = ValueFor(input, mutant);
      if (!value) return outcome;
      feeds[input.name] = std::move(*value);
    }
    RunOptions run;
    run.timeout = std::chrono::seconds(5);
    session.Run(feeds, {}, run);
    outcome = Outcome::kRan;
  } catch (const Error& error) {
    EXPECT_FALSE(std::string_view(error.what()).empty());
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not the library's: " << error.what();
  }
  return outcome;
}

TEST(IrMutations, EndInAnErrorOrARun) {
  uint64_t first = 1, count = 600;
  if (const char* given = std::getenv("ONNXSEQ_IR_MUTANTS")) {
    char* rest = nullptr;
    first = std::strtoull(given, &rest, 10);
    if (*rest == ':') count = std::strtoull(rest + 1, nullptr, 10);
  }
  std::vector<std::pair<std::string, Bytes>> files;
  std::vector<fs::path> paths;
  for (const char* folder : {"ir", "ir_bodies", "ir_layers"})
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(ONNXSEQ_TEST_DATA) / folder))
      if (entry.path().extension() == ".xml") paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const fs::path& path : paths)
    files.emplace_back(FileText(path), Bytes(FileText(fs::path(path).replace_extension(".bin"))));
  uint64_t outcomes[3] = {};
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const auto& [xml, weights] = files[seed % files.size()];
    SCOPED_TRACE(fmt::format("ONNXSEQ_IR_MUTANTS={}:1 ({})", seed, paths[seed % files.size()].filename().string()));
    const auto begin = std::chrono::steady_clock::now();
    Mutant mutant(xml, seed);
    ++outcomes[static_cast<size_t>(Try(mutant.Xml(), weights, mutant))];
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  }
  if (count < 600) return;
  EXPECT_GT(outcomes[static_cast<size_t>(Outcome::kRefused)], count / 4);
  EXPECT_GT(outcomes[static_cast<size_t>(Outcome::kRan)], count / 20);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
