# SPDX-License-Identifier: Apache-2.0
"""The exceptions and warnings of the package: each exception is an Error and the built-in exception that fits."""

import builtins


class Error(Exception):
    """What is wrong, and where.

    op_type, node_name: the operator's; subject: the input, output or attribute; path: the bodies the node stands in, innermost
    first. Each may be empty.
    """

    op_type: str = ""
    node_name: str = ""
    subject: str = ""
    path: tuple[str, ...] = ()


class InvalidArgument(Error, ValueError):
    """Wrong data, attributes, shapes or types: in the model or in what was fed to it."""


class ModelParseError(Error, ValueError):
    """Bytes or text that do not follow their format."""


class OutOfRange(Error, IndexError):
    """A name or index that is not there."""


class Unsupported(Error, NotImplementedError):
    """A sound model that this build cannot run; the message lists every reason."""


class IoError(Error, OSError):
    """A file that cannot be read or written."""


class TimeoutError(Error, builtins.TimeoutError):
    """A run that went past its deadline."""


class MemoryError(Error, builtins.MemoryError):
    """More memory than there is, or than the run may take."""


class Warning(builtins.UserWarning):
    """What is doubtful about a model that loads all the same."""
