# SPDX-License-Identifier: Apache-2.0
"""onnxseq: an engine for sequence models. Runs ONNX and OpenVINO IR on the CPU and infers the shapes of every value.

session = onnxseq.InferenceSession("model.onnx")
outputs = session.run(None, {"x": array})
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, overload

from ._onnxseq import (
    InferenceSession,
    SessionOptions,
    Stream,
    StreamGroup,
    ValueInfo,
    _find_problems,
    _infer_shapes_model,
    convert,
    infer_shapes,
)
from ._onnxseq import _version as __version__
from .errors import (
    Error,
    InvalidArgument,
    IoError,
    MemoryError,
    ModelParseError,
    OutOfRange,
    TimeoutError,
    Unsupported,
    Warning,
)

if TYPE_CHECKING:
    import os

    from ._onnxseq import _Dims, _Model, _ModelProto, _Shapes

    _Proto = TypeVar("_Proto", bound=_ModelProto)

__all__ = [
    "Error",
    "InferenceSession",
    "InvalidArgument",
    "IoError",
    "MemoryError",
    "ModelParseError",
    "OutOfRange",
    "SessionOptions",
    "Stream",
    "StreamGroup",
    "TimeoutError",
    "Unsupported",
    "ValueInfo",
    "Warning",
    "__version__",
    "check_model",
    "convert",
    "infer_shapes",
    "infer_shapes_model",
]


@overload
def infer_shapes_model(model: _Proto, dims: _Dims | None = None, shapes: _Shapes | None = None) -> _Proto: ...
@overload
def infer_shapes_model(
    model: str | os.PathLike[str] | os.PathLike[bytes] | bytes | bytearray | memoryview,
    dims: _Dims | None = None,
    shapes: _Shapes | None = None,
) -> bytes: ...
def infer_shapes_model(model, dims=None, shapes=None):
    """The model with what was inferred written into its value_info: a ModelProto for a ModelProto, else bytes.

    dims and shapes, as for infer_shapes, are written into the declared types. External data stays where it is.
    """
    data = _infer_shapes_model(model, dims or {}, shapes or {})
    return type(model).FromString(data) if hasattr(model, "SerializeToString") else data


def check_model(model: _Model) -> list[str]:
    """Raises InvalidArgument with every error found in the model, by inference or by loading it, or what reading it
    raises. Returns the warnings.
    """
    problems = _find_problems(model)
    errors = [message for is_error, message in problems if is_error]
    if errors:
        raise InvalidArgument("\n".join(errors))
    return [message for _, message in problems]
