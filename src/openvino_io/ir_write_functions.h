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
