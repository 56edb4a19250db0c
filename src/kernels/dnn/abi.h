/* SPDX-License-Identifier: Apache-2.0 */
/* What libonnxseq_dnn.so, the one module that links oneDNN, offers: one exported function that gives a table. Plain C,
 * so that the module depends on no class of the library it is loaded by. All functions may be called from many threads
 * at once, run on the calling thread alone, and never throw: a `kDnnNotServed` means that the caller is to use its own
 * kernels, as the same call always will. */
#ifndef ONNXSEQ_KERNELS_DNN_ABI_H_
#define ONNXSEQ_KERNELS_DNN_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with the table and the structs. */
#define ONNXSEQ_DNN_ABI 2
#define ONNXSEQ_DNN_MAX_AXES 3

enum { kDnnDone = 0, kDnnNotServed = 1 };
/* The widest instruction set the module may use. */
enum { kDnnSse4 = 0, kDnnAvx2 = 1, kDnnBest = 2 };

/* A convolution of channels-last float arrays without padding in front: x[batch, in.., groups * in_channels],
 * y[batch, out.., groups * out_channels]. Plain: output o sees inputs o * stride + k * dilation, all of them within x.
 * Transposed: input i reaches outputs i * stride + k * dilation - begin; those outside of y are dropped. Entries beyond
 * `axes` are 0. The bytes of the struct name the convolution: set it to zero first. */
typedef struct OnnxseqDnnConv {
  int64_t batch, groups, in_channels, out_channels; /* channels of one group */
  int64_t in[ONNXSEQ_DNN_MAX_AXES], out[ONNXSEQ_DNN_MAX_AXES], kernel[ONNXSEQ_DNN_MAX_AXES];
  int64_t stride[ONNXSEQ_DNN_MAX_AXES], dilation[ONNXSEQ_DNN_MAX_AXES], begin[ONNXSEQ_DNN_MAX_AXES];
  int32_t axes, has_bias, transposed, unused;
} OnnxseqDnnConv;

/* Weights as one or more primitives want them, made when first needed. */
typedef struct OnnxseqDnnWeights OnnxseqDnnWeights;

typedef struct OnnxseqDnn {
  uint32_t abi;
  /* "oneDNN 3.2.0". */
  const char* library;

  /* Null when there is no memory. The weights it was used with first are those it is always used with. */
  OnnxseqDnnWeights* (*new_weights)(void);
  void (*free_weights)(OnnxseqDnnWeights*);
  /* w [groups * out_channels, in_channels, kernel..], transposed [groups * in_channels, out_channels, kernel..]; bias
   * [groups * out_channels] or null without has_bias. */
  int (*conv)(const OnnxseqDnnConv* conv, OnnxseqDnnWeights* weights, const float* w, const float* bias, const float* x,
              float* y);
} OnnxseqDnn;

/* The table, or null when `abi` is not ONNXSEQ_DNN_ABI. `isa` counts at the first call in the process. */
__attribute__((visibility("default"))) const OnnxseqDnn* onnxseq_dnn(uint32_t abi, int isa);

#ifdef __cplusplus
}
#endif

#endif
