// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <string>

#include "kernels/dnn/abi.h"
#include "kernels/dnn/module/conv.h"
#include "kernels/dnn/module/surroundings.h"

namespace dnn_module {
namespace {

template <auto kGemm, class A>
int Product(int64_t m, int64_t n, int64_t k, const A* a, int64_t lda, const int8_t* b, int64_t ldb, int32_t* c,
            int64_t ldc) {
  const OneThread one_thread;
  const int32_t none = 0;
  const dnnl_status_t status = kGemm('N', 'N', 'F', m, n, k, 1, a, lda, 0, b, ldb, 0, 0, c, ldc, &none);
  return status == dnnl_success ? kDnnDone : kDnnNotServed;
}

OnnxseqDnn Table(int isa) {
  if (isa == kDnnSse4) dnnl::set_max_cpu_isa(dnnl::cpu_isa::sse41);
  if (isa == kDnnAvx2) dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2);
  const dnnl::cpu_isa effective = dnnl::get_effective_cpu_isa();
  const dnnl_version_t* const version = dnnl::version();
  static const std::string library = "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) +
                                     "." + std::to_string(version->patch);
  // What has AVX-512 with VNNI, in oneDNN's numbering of sets by bits.
  const auto vnni = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_vnni);
  const bool exact = (static_cast<unsigned>(effective) & vnni) == vnni;
  return {ONNXSEQ_DNN_ABI,
          exact ? 1u : 0u,
          library.c_str(),
          NewWeights,
          FreeWeights,
          Conv,
          Product<dnnl_gemm_u8s8s32, uint8_t>,
          Product<dnnl_gemm_s8s8s32, int8_t>};
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
