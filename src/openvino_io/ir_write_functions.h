// SPDX-License-Identifier: Apache-2.0
// The writing functions of the operator table, by file.
#pragma once

#include "openvino_io/ir_node_writer.h"

namespace ONNX_LIGHT_NAMESPACE {

// ir_write_simple.cc
void WriteIdentity(IrNodeWriter& w);
void WriteConstant(IrNodeWriter& w);
// Unary and binary ones, whose layer the table of layers names.
void WriteSameLayer(IrNodeWriter& w);

// ir_write_attention.cc
void WriteAttention(IrNodeWriter& w);

// ir_write_elementwise.cc
void WriteBitShift(IrNodeWriter& w);
void WriteCast(IrNodeWriter& w);
void WriteCastLike(IrNodeWriter& w);
void WriteCelu(IrNodeWriter& w);
void WriteClip(IrNodeWriter& w);
void WriteDiv(IrNodeWriter& w);
void WriteDropout(IrNodeWriter& w);
void WriteElu(IrNodeWriter& w);
void WriteGelu(IrNodeWriter& w);
void WriteHardSigmoid(IrNodeWriter& w);
void WriteIsInf(IrNodeWriter& w);
void WriteLeakyRelu(IrNodeWriter& w);
void WriteMax(IrNodeWriter& w);
void WriteMean(IrNodeWriter& w);
void WriteMin(IrNodeWriter& w);
void WriteMod(IrNodeWriter& w);
void WritePRelu(IrNodeWriter& w);
void WritePow(IrNodeWriter& w);
void WriteReciprocal(IrNodeWriter& w);
void WriteRound(IrNodeWriter& w);
void WriteSelu(IrNodeWriter& w);
void WriteSoftmax(IrNodeWriter& w);
void WriteSum(IrNodeWriter& w);
void WriteSwish(IrNodeWriter& w);
void WriteThresholdedRelu(IrNodeWriter& w);
void WriteWhere(IrNodeWriter& w);

// ir_write_layout.cc
void WriteConcat(IrNodeWriter& w);
void WriteConstantOfShape(IrNodeWriter& w);
void WriteDepthToSpace(IrNodeWriter& w);
void WriteExpand(IrNodeWriter& w);
void WriteFlatten(IrNodeWriter& w);
void WritePad(IrNodeWriter& w);
void WriteReshape(IrNodeWriter& w);
void WriteReverseSequence(IrNodeWriter& w);
void WriteShape(IrNodeWriter& w);
void WriteSize(IrNodeWriter& w);
void WriteSlice(IrNodeWriter& w);
void WriteSpaceToDepth(IrNodeWriter& w);
void WriteSplit(IrNodeWriter& w);
void WriteSqueeze(IrNodeWriter& w);
void WriteTile(IrNodeWriter& w);
void WriteTranspose(IrNodeWriter& w);
void WriteUnsqueeze(IrNodeWriter& w);

// ir_write_indexing.cc
void WriteArgMax(IrNodeWriter& w);
void WriteCumSum(IrNodeWriter& w);
void WriteEyeLike(IrNodeWriter& w);
void WriteGather(IrNodeWriter& w);
void WriteGatherElements(IrNodeWriter& w);
void WriteGatherNd(IrNodeWriter& w);
void WriteHardmax(IrNodeWriter& w);
void WriteNonZero(IrNodeWriter& w);
void WriteOneHot(IrNodeWriter& w);
void WriteRange(IrNodeWriter& w);
void WriteScatterElements(IrNodeWriter& w);
void WriteScatterNd(IrNodeWriter& w);
void WriteTopK(IrNodeWriter& w);
void WriteTrilu(IrNodeWriter& w);
void WriteUnique(IrNodeWriter& w);

// ir_write_reduce.cc
void WriteBatchNormalization(IrNodeWriter& w);
void WriteEinsum(IrNodeWriter& w);
void WriteGemm(IrNodeWriter& w);
void WriteGroupNormalization(IrNodeWriter& w);
void WriteInstanceNormalization(IrNodeWriter& w);
void WriteLayerNormalization(IrNodeWriter& w);
void WriteLrn(IrNodeWriter& w);
void WriteMatMul(IrNodeWriter& w);
void WriteReduce(IrNodeWriter& w);
void WriteReduceLogSum(IrNodeWriter& w);
void WriteReduceLogSumExp(IrNodeWriter& w);
void WriteReduceSumSquare(IrNodeWriter& w);
void WriteRmsNormalization(IrNodeWriter& w);

// ir_write_signal.cc
void WriteDft(IrNodeWriter& w);
void WriteStft(IrNodeWriter& w);

// ir_write_vision.cc
void WriteCol2Im(IrNodeWriter& w);
void WriteGridSample(IrNodeWriter& w);
void WriteNonMaxSuppression(IrNodeWriter& w);
void WriteRoiAlign(IrNodeWriter& w);

// ir_write_window.cc
void WriteAveragePool(IrNodeWriter& w);
void WriteConv(IrNodeWriter& w);
void WriteConvTranspose(IrNodeWriter& w);
void WriteGlobalAveragePool(IrNodeWriter& w);
void WriteGlobalMaxPool(IrNodeWriter& w);
void WriteMaxPool(IrNodeWriter& w);
void WriteResize(IrNodeWriter& w);

// ir_write_quantize.cc
void WriteDequantizeLinear(IrNodeWriter& w);
void WriteQuantizeLinear(IrNodeWriter& w);

// ir_write_recurrent.cc
void WriteLstm(IrNodeWriter& w);
void WriteGru(IrNodeWriter& w);
void WriteRnn(IrNodeWriter& w);
void WriteRecurrentLayer(IrNodeWriter& w);

// ir_write_control.cc
void WriteScan(IrNodeWriter& w);
void WriteLoop(IrNodeWriter& w);
void WriteIf(IrNodeWriter& w);

}  // namespace ONNX_LIGHT_NAMESPACE
