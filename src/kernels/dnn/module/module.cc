// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "kernels/dnn/abi.h"
#include "kernels/dnn/module/conv.h"
#include "kernels/dnn/module/surroundings.h"

namespace dnn_module {
namespace {

OnnxseqDnn Table(int isa) {
  if (isa == kDnnSse4) dnnl::set_max_cpu_isa(dnnl::cpu_isa::sse41);
  if (isa == kDnnAvx2) dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2);
  const dnnl_version_t* const version = dnnl::version();
  static const std::string library = "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) +
                                     "." + std::to_string(version->patch);
  return {ONNXSEQ_DNN_ABI, library.c_str(), NewWeights, FreeWeights, Conv};
}

}  // namespace
}  // namespace dnn_module

const OnnxseqDnn* onnxseq_dnn(uint32_t abi, int isa) try {
  if (abi != ONNXSEQ_DNN_ABI) return nullptr;
  static const OnnxseqDnn table = dnn_module::Table(isa);
  return &table;
} catch (const std::exception&) {
  return nullptr;
}
