# SPDX-License-Identifier: Apache-2.0
"""Holds inferred shapes (as infer_shapes gives them) against the truth as other engines found it, and what can be known of it."""

import ast
import operator

import numpy as np

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def broadcast(a, b):
    if 1 not in (a, b) and a != b:
        raise ValueError(f"{a} and {b} do not broadcast")
    return b if a == 1 else a


def floor_of_product(product):
    return int(np.floor(product))


FUNCTIONS = {"min": min, "max": max, "broadcast": broadcast, "floor": floor_of_product}


def evaluate(text, sizes):
    """The number that a dim's text stands for; None when it names something `sizes` has no number for."""

    def value(node):
        if isinstance(node, ast.Constant):
            # The factor of a scale; products are rounded as floats.
            return np.float32(node.value) if isinstance(node.value, float) else node.value
        if isinstance(node, ast.Name):
            return sizes[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.BinOp):
            a, b = value(node.left), value(node.right)
            if isinstance(b, np.float32):
                a = np.float32(a)
            return OPERATORS[type(node.op)](a, b)
        return FUNCTIONS[node.func.id](*map(value, node.args))

    if text in sizes:
        return sizes[text]
    try:
        return value(ast.parse(text, mode="eval").body)
    except (KeyError, SyntaxError, ZeroDivisionError):
        return None


class Checker:
    """Collects what is wrong and what is left open. Names that `sizes` lacks get the first number they stand for."""

    def __init__(self, sizes):
        self.sizes = sizes
        self.bound = {}
        self.later = []
        self.wrong = []
        self.open = []

    def dim(self, where, inferred, actual, wanted="?"):
        """`wanted`: what can be known of the dim, "?" for nothing."""
        if isinstance(inferred, int):
            if inferred != actual:
                self.wrong.append(f"{where} is {actual}, inferred {inferred}")
            return
        number = None if inferred is None else evaluate(inferred, self.sizes)
        if number is not None:
            if number != actual:
                self.wrong.append(f"{where} is {actual}, inferred {inferred} = {number}")
            return
        if wanted != "?":
            self.open.append(f"{where}: {inferred} where {wanted} can be known")
        if inferred is not None and inferred.isidentifier():
            if self.bound.setdefault(inferred, actual) != actual:
                self.wrong.append(f"{where} is {actual}, its name {inferred} is {self.bound[inferred]} elsewhere")
        elif inferred is not None:
            self.later.append((where, inferred, actual))

    def shape(self, where, inferred, dtype, actual_dtype, dims, wanted, one_of_many=False):
        """`wanted`: dims as for dim(), "?" for no claim, None where not even the rank can be known."""
        if dtype not in ("undefined", actual_dtype):
            self.wrong.append(f"{where} is {actual_dtype}, inferred {dtype}")
        if dtype == "undefined" or (inferred is None and isinstance(wanted, list)):
            self.open.append(f"{where}: {dtype}{inferred}")
        if inferred is None:
            return
        if len(inferred) != len(dims):
            self.wrong.append(f"{where} has rank {len(dims)}, inferred {inferred}")
            return
        for axis, (dim, actual) in enumerate(zip(inferred, dims)):
            goal = wanted[axis] if isinstance(wanted, list) else "?"
            known = isinstance(dim, int) or (dim is not None and evaluate(dim, self.sizes) is not None)
            # A name in what is said of every element may stand for another number in each.
            if known or not one_of_many:
                self.dim(f"axis {axis} of {where}", dim, actual, goal)
            elif goal != "?":
                self.open.append(f"axis {axis} of {where}: {dim} where {goal} can be known")

    def finish(self):
        """What mentions names that lone dims have bound."""
        for where, text, actual in self.later:
            number = evaluate(text, {**self.bound, **self.sizes})
            if number not in (None, actual):
                self.wrong.append(f"{where} is {actual}, inferred {text} = {number}")
        return self
