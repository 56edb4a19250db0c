// SPDX-License-Identifier: Apache-2.0
// Models to OpenVINO IR: what ir_reader reads, the other way.
#pragma once

#include <string>
#include <string_view>

#include "onnx_proto/onnx.h"
#include "openvino_io/ir_xml.h"

namespace ONNX_LIGHT_NAMESPACE {

// What inference knows of the values of a model's graphs.
class IrTypeSource {
 public:
  virtual ~IrTypeSource() = default;
  virtual IrType TypeOf(const GraphProto& graph, std::string_view value) const = 0;
  // "a sequence", "an optional", "a map" for a value that is known to be one; "" otherwise.
  virtual std::string_view KindOf(const GraphProto& graph, std::string_view value) const = 0;
};

struct IrWriteOptions {
  // Nodes that no layer says may be written as several that give the same; defaults of inputs become constants.
  bool lower = false;
  int version = 11;  // or 10
};

// An IR in memory. Equal models give equal texts.
struct IrFiles {
  std::string xml, bin;
};

// `types` is of this very model, which has no functions and whose nodes are sorted. Nodes that were read from an IR and
// are what was read become their layers again, with all their attributes; others the layers that say the same. Throws
// Unsupported, listing every node, input and output that IR cannot say; InvalidArgument for a model that is not sound
// or another version. Thread safe.
IrFiles SerializeIr(const ModelProto& model, const IrTypeSource& types, const IrWriteOptions& options = {});

// The same to a file and the .bin beside it, each replaced whole, the .bin first: whoever reads between the two finds
// a pair that does not belong together. The model may have been read from that very path. Throws IoError too.
void WriteIr(const ModelProto& model, const IrTypeSource& types, const std::string& xml_path,
             const IrWriteOptions& options = {});

}  // namespace ONNX_LIGHT_NAMESPACE
