// SPDX-License-Identifier: Apache-2.0
// The lowering functions of the layer table, by file.
#pragma once

#include "openvino_io/ir_lowering.h"

namespace ONNX_LIGHT_NAMESPACE {

// ir_elementwise.cc. The first ones serve the types whose table entry names an operator.
void LowerUnary(IrLowering& l);
void LowerRounding(IrLowering& l);
void LowerPredicate(IrLowering& l);
void LowerBinary(IrLowering& l);
void LowerComparison(IrLowering& l);
void LowerPower(IrLowering& l);
void CheckBroadcast(const IrLowering& l);
void LowerBitwiseLeftShift(IrLowering& l);
void LowerBitwiseRightShift(IrLowering& l);
void LowerConvert(IrLowering& l);
void LowerConvertLike(IrLowering& l);
void LowerDivide(IrLowering& l);
void LowerFloorMod(IrLowering& l);
void LowerIsFinite(IrLowering& l);
void LowerIsInf(IrLowering& l);
void LowerMod(IrLowering& l);
void LowerNotEqual(IrLowering& l);
void LowerRound(IrLowering& l);
void LowerSelect(IrLowering& l);
void LowerSquaredDifference(IrLowering& l);

// ir_activations.cc
void LowerFakeConvert(IrLowering& l);
void LowerClamp(IrLowering& l);
void LowerElu(IrLowering& l);
void LowerFakeQuantize(IrLowering& l);
void LowerGelu(IrLowering& l);
void LowerHardSigmoid(IrLowering& l);
void LowerHSigmoid(IrLowering& l);
void LowerPRelu(IrLowering& l);
void LowerSelu(IrLowering& l);
void LowerSoftmax(IrLowering& l);
void LowerSwish(IrLowering& l);

// ir_normalization.cc
void LowerBatchNorm(IrLowering& l);
void LowerGroupNormalization(IrLowering& l);
void LowerGrn(IrLowering& l);
void LowerLrn(IrLowering& l);
void LowerMvn(IrLowering& l);
void LowerNormalizeL2(IrLowering& l);
void LowerReduce(IrLowering& l);

// ir_window.cc
void LowerAvgPool(IrLowering& l);
void LowerConvolution(IrLowering& l);
void LowerConvolutionBackprop(IrLowering& l);
void LowerMaxPool(IrLowering& l);

// ir_layout.cc
void LowerConcat(IrLowering& l);
void LowerDepthToSpace(IrLowering& l);
void LowerReshape(IrLowering& l);
void LowerShapeOf(IrLowering& l);
void LowerShuffleChannels(IrLowering& l);
void LowerSpaceToDepth(IrLowering& l);
void LowerSqueeze(IrLowering& l);
void LowerTranspose(IrLowering& l);
void LowerUnsqueeze(IrLowering& l);

// ir_parts.cc
void LowerPad(IrLowering& l);
void LowerReverse(IrLowering& l);
void LowerReverseSequence(IrLowering& l);
void LowerSlice(IrLowering& l);
void LowerSplit(IrLowering& l);
void LowerStridedSlice(IrLowering& l);
void LowerVariadicSplit(IrLowering& l);

// ir_generate.cc
void LowerBroadcast(IrLowering& l);
void LowerCumSum(IrLowering& l);
void LowerEye(IrLowering& l);
void LowerOneHot(IrLowering& l);
void LowerRange(IrLowering& l);
void LowerTile(IrLowering& l);

// ir_indexing.cc
void LowerGather(IrLowering& l);
void LowerGatherElements(IrLowering& l);
void LowerGatherNd(IrLowering& l);
void LowerNonZero(IrLowering& l);
void LowerScatterElements(IrLowering& l);
void LowerScatterNd(IrLowering& l);
void LowerScatterUpdate(IrLowering& l);
void LowerTopK(IrLowering& l);

// ir_matmul.cc
void LowerAttention(IrLowering& l);
void LowerEinsum(IrLowering& l);
void LowerMatMul(IrLowering& l);

// ir_ctc.cc
void LowerCtcGreedyDecoder(IrLowering& l);
void LowerCtcGreedyDecoderSeqLen(IrLowering& l);

// ir_search.cc, ir_gather_tree.cc
void LowerBucketize(IrLowering& l);
void LowerGatherTree(IrLowering& l);
void LowerNonMaxSuppression(IrLowering& l);
void LowerSearchSorted(IrLowering& l);
void LowerUnique(IrLowering& l);

// ir_embedding.cc
void LowerEmbeddingBagOffsets(IrLowering& l);
void LowerEmbeddingBagPacked(IrLowering& l);
void LowerEmbeddingSegmentsSum(IrLowering& l);

// ir_signal.cc
void LowerDft(IrLowering& l);
void LowerIdft(IrLowering& l);
void LowerIrdft(IrLowering& l);
void LowerIstft(IrLowering& l);
void LowerRdft(IrLowering& l);
void LowerStft(IrLowering& l);

// ir_blocks.cc
void LowerBatchToSpace(IrLowering& l);
void LowerCol2Im(IrLowering& l);
void LowerExtractImagePatches(IrLowering& l);
void LowerRoll(IrLowering& l);
void LowerSliceScatter(IrLowering& l);
void LowerSpaceToBatch(IrLowering& l);

// ir_adaptive_pool.cc, ir_interpolate.cc, ir_vision.cc, ir_random.cc
void LowerAdaptiveAvgPool(IrLowering& l);
void LowerAdaptiveMaxPool(IrLowering& l);
void LowerGridSample(IrLowering& l);
void LowerInterpolate(IrLowering& l);
void LowerRandomUniform(IrLowering& l);
void LowerRoiAlign(IrLowering& l);

// ir_tensor_iterator.cc, ir_loop.cc, ir_if.cc, ir_state.cc
void LowerTensorIterator(IrLowering& l);
void LowerLoop(IrLowering& l);
void LowerIf(IrLowering& l);
void LowerReadValue(IrLowering& l);
void LowerAssign(IrLowering& l);

// ir_recurrent.cc
void LowerLstmSequence(IrLowering& l);
void LowerLstmCell(IrLowering& l);
void LowerGruSequence(IrLowering& l);
void LowerGruCell(IrLowering& l);
void LowerRnnSequence(IrLowering& l);
void LowerRnnCell(IrLowering& l);

}  // namespace ONNX_LIGHT_NAMESPACE
