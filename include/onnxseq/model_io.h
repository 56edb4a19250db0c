// SPDX-License-Identifier: Apache-2.0
// Model and value files, without a session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onnx_proto/onnx.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// What reading a model found about tensors whose data lies in other files.
struct ExternalDataReport {
  // Set by the caller: data that cannot be had is an error, as it is without a report, instead of `missing`.
  bool need_all = false;
  // Tensors whose data was found.
  size_t loaded = 0;
  // Why the data of the others could not be had, a message for each file; those tensors keep their references.
  std::vector<std::string> missing;
};

// Reads a model by the suffix of the path: an OpenVINO IR for .xml (its .bin is beside it), ONNX text for .onnxtxt,
// else an ONNX file. Mapped: large data is not copied, and read from the file when it is looked at; the file must not
// be cut meanwhile, replacing it is fine. Data in external files, which must lie below the model's folder, is mapped as
// well and becomes raw_data; a tensor whose data cannot be had is an error, or, with a report, listed there. Throws
// IoError, ModelParseError, InvalidArgument (external data), Unsupported (layers that cannot be said in ONNX).
ONNXSEQ_API ModelProto ReadModelFile(const std::string& path, ExternalDataReport* report = nullptr);

// Brings in the external data of a model that was not read from a file, from below `folder`. Throws as ReadModelFile.
ONNXSEQ_API void LoadExternalData(ModelProto& model, const std::string& folder);

// The model rewritten into one that gives the same in less time, by what standard ONNX can say: constants folded, nodes
// that do nothing or the same as others or that nobody uses left out, BatchNormalization and biases taken into the
// weights of the Conv before. Functions of the model are left alone; initializers that are graph inputs may still be
// fed. What is wrong with the model is left as it is.
ONNXSEQ_API ModelProto OptimizeModel(ModelProto model);

// OptimizeModel, and SequenceMaps whose bodies standard ONNX can run over all elements at once become those nodes, so
// that engines that run them in a loop do not. Elements must be known to have one shape, or to differ in one dim alone
// and to be cut from one tensor or joined to one again. What comes out is the same, but for rounding where sums are
// made in another order; where the model fails, the new one may not. `notes` says of each SequenceMap what became of
// it, or why it stays.
ONNXSEQ_API ModelProto BatchSequenceMaps(ModelProto model, std::vector<std::string>* notes = nullptr);

struct WriteModelOptions {
  // Initializers of at least this many bytes go to a file NAME.HASH.data beside the model; without it none do, unless
  // the model would pass 2 GiB, more than other tools read. Older files of that name pattern are removed.
  std::optional<int64_t> external_bytes;
  // What the file has no words for is written as other nodes that give the same. To OpenVINO IR: nodes that no layer
  // says, where that is possible, and inputs that have a default, as constants. To ONNX: recurrent layers of OpenVINO,
  // as LSTM, GRU and RNN.
  bool lower = false;
  // Of an OpenVINO IR, 10 or 11: 11 unless given. InvalidArgument for another kind of file.
  std::optional<int> ir_version = {};
};

// What writes a model in the form it was read in: with external data when it had some.
ONNXSEQ_API WriteModelOptions AsRead(const ExternalDataReport& report);

// Writes a model by the suffix of the path: OpenVINO IR for .xml (its .bin beside it, whatever the options say of
// external data), ONNX text for .onnxtxt, else an ONNX file. Equal models give equal bytes. Whole or not at all, also
// when the process is killed: external data first, then the model through a new file renamed over it; of an IR each of
// the two files. The model may have been read from that very path. Throws IoError; Unsupported for what text or IR
// cannot say, naming each node.
ONNXSEQ_API void WriteModelFile(const ModelProto& model, const std::string& path,
                                const WriteModelOptions& options = {});

// What the .pb files of test data hold. The file does not say which: the caller does.
enum class ValueFileKind { kTensor, kSequence, kOptional, kMap };
// Throws IoError, ModelParseError, and InvalidArgument or Unsupported for content no value can hold.
ONNXSEQ_API Value ReadValueFile(const std::string& path, ValueFileKind kind);

}  // namespace ONNX_LIGHT_NAMESPACE
