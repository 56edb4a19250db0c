// SPDX-License-Identifier: Apache-2.0
// Cases that tools/make_recurrent_golden.py wrote: `case NAME`, lines `KEY word` and `KEY dims : values`, `end`.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/activation/activation.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

struct GoldenArray {
  std::vector<int64_t> dims;
  std::vector<double> values;
};

struct GoldenCase {
  std::string name;
  std::map<std::string, std::string> words;
  std::vector<Activation> activations;
  std::map<std::string, GoldenArray> arrays;

  bool is_onnx() const { return words.at("contract") == "onnx"; }
  const GoldenArray& Array(const std::string& key) const { return arrays.at(key); }
  int64_t Dim(const std::string& key, size_t i) const { return arrays.at(key).dims.at(i); }
  // Empty when there is no such array.
  template <class T>
  std::vector<T> Values(const std::string& key) const {
    const auto found = arrays.find(key);
    if (found == arrays.end()) return {};
    return std::vector<T>(found->second.values.begin(), found->second.values.end());
  }
};

// Of tests/data/<kind>/golden.txt, kind as lstm.
inline std::vector<GoldenCase> ReadGolden(const std::string& kind) {
  std::ifstream file(ONNXSEQ_TEST_DATA "/" + kind + "/golden.txt");
  std::vector<GoldenCase> cases;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key, word;
    words >> key;
    if (key == "case") {
      cases.emplace_back();
      words >> cases.back().name;
    } else if (key == "activation") {
      Activation activation;
      words >> word >> activation.alpha >> activation.beta;
      activation.kind = ActivationFromName(word).value();
      cases.back().activations.push_back(activation);
    } else if (line.find(" : ") != std::string::npos) {
      GoldenArray& array = cases.back().arrays[key];
      while (words >> word && word != ":") array.dims.push_back(std::stoll(word));
      while (words >> word) array.values.push_back(std::stod(word));
    } else if (!key.empty() && key != "#" && key != "end") {
      words >> cases.back().words[key];
    }
  }
  return cases;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
