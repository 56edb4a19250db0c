// SPDX-License-Identifier: Apache-2.0
// dnn: the door to oneDNN. It is linked into a module of its own (module/, abi.h), libonnxseq_dnn.so beside the library
// or program, which is opened when a kernel first has work for it. Own kernels do what it does not, and everything
// where it is missing.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "kernels/dnn/abi.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// The module, opened at the first call; null when it cannot be. The environment variable ONNXSEQ_DNN may name another
// file, or say "off". Thread safe; cheap after the first call.
const OnnxseqDnn* Dnn() noexcept;
// Whether Dnn() would be null for want of the file: `cannot find .../libonnxseq_dnn.so, the module with oneDNN: slower
// kernels do its work`. Empty when it is there, or off. Opens nothing.
std::string DnnMissing();
// One line: which version of what is used, or why none is. Opens the module.
std::string DescribeDnn();

// The weights of one convolution as oneDNN wants them, made when first needed. Thread safe.
class DnnWeights {
 public:
  // Throws std::bad_alloc.
  OnnxseqDnnWeights* Get(const OnnxseqDnn& dnn);

 private:
  struct Free {
    void operator()(OnnxseqDnnWeights* weights) const;
  };
  std::once_flag once_;
  std::unique_ptr<OnnxseqDnnWeights, Free> weights_;
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
