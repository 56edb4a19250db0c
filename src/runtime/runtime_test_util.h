// SPDX-License-Identifier: Apache-2.0
// Sessions from ONNX text for tests, and the message of what a call throws.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_io/text_parser.h"
#include "onnxseq/errors.h"
#include "onnxseq/session.h"

// Whether memory is a sanitizer's, which keeps what is freed and counts it as its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ONNXSEQ_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ONNXSEQ_SANITIZED 1
#endif
#endif
#ifndef ONNXSEQ_SANITIZED
#define ONNXSEQ_SANITIZED 0
#endif

namespace ONNX_LIGHT_NAMESPACE {

// The text of a graph (and functions after it), as a model of this operator set.
inline Session FromText(std::string_view graph, const SessionOptions& options = {}) {
  return Session::FromModel(
      ParseModelText("<ir_version: 8, opset_import: [\"\" : 17, \"my\" : 1]>\n" + std::string(graph)), options);
}

// The message of the E it throws; whatever else happens is told, too.
template <class E, class Fn>
std::string ThrownBy(Fn fn) {
  try {
    fn();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "nothing thrown";
}

// The texts of the dims.
inline std::vector<std::string> Dims(const ValueDescription& value) {
  std::vector<std::string> texts;
  for (const ValueDescription::Dim& dim : value.shape.value()) texts.push_back(dim.text);
  return texts;
}

inline Value Vec(std::initializer_list<float> values) {
  return Tensor::Of<float>(Shape{static_cast<int64_t>(values.size())}, values);
}
inline std::span<const float> Floats(const Value& value) { return value.tensor().View<float>(); }

}  // namespace ONNX_LIGHT_NAMESPACE
