// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "passes/cells/cell.h"

namespace ONNX_LIGHT_NAMESPACE::cells {

// Adds, before node n, the operator that does all steps at once, and what makes of it the values of the graph around:
// StepBody::outputs, all of which are h, and Carried::result of h and c. Throws NotACell, before it changes anything,
// for shapes it cannot give.
void PutOperator(GraphEdit& edit, int n, const StepBody& steps, const Cell& cell, const CellWeights& weights);

}  // namespace ONNX_LIGHT_NAMESPACE::cells
