// SPDX-License-Identifier: Apache-2.0
// What every model that can be printed must do: its text reads back, and what is read back prints as the same text and
// reads back as the same message.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "onnx_io/text_parser.h"
#include "onnx_io/text_printer.h"
#include "onnxseq/errors.h"

inline void CheckTextRoundTrip(const onnxseq::ModelProto& model) {
  std::string text;
  try {
    text = onnxseq::PrintModelText(model);
  } catch (const onnxseq::Error&) {
    return;  // what the syntax cannot say, and tensors that make no sense
  }
  onnxseq::ModelProto read;
  try {
    read = onnxseq::ParseModelText(text);
  } catch (const onnxseq::ModelParseError& error) {
    // Messages nest deeper than text may.
    if (std::string_view(error.what()).find("nested more than") != std::string_view::npos) return;
    std::abort();
  }
  const std::string again = onnxseq::PrintModelText(read);
  if (again != text || !(onnxseq::ParseModelText(again) == read)) std::abort();
}
