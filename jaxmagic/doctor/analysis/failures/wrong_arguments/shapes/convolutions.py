"""Explains convolutions whose input, kernel or padding do not fit."""

from __future__ import annotations

import re

from ......records.note import note
from .....record.failure import Failure
from ..explained import Explained, Rule
from ..operands import arrays_of, fact, listed


def explain_conv_rank(failure: Failure) -> Explained:
    """Explain an input and a kernel with different numbers of axes."""
    given, kernel = int(fact(failure, "given")), int(fact(failure, "kernel"))
    arrays = arrays_of(failure)[:2]
    known = [len(each.shape) for each in arrays if each.shape is not None] == [given, kernel]
    operands = listed([each.text for each in arrays], [each.shape or () for each in arrays]) if known else ""
    found = note("doctor.error_conv_rank", operands=operands if all(each.text for each in arrays) else "")
    missing = "batch" if given == kernel - 1 else "channels" if kernel < given else ""
    return Explained(found, note("doctor.write_conv_rank", missing=missing))


def explain_conv_padding(failure: Failure) -> Explained:
    """Explain a padding with one number per axis in place of a pair."""
    sizes = re.findall(r"\d+", fact(failure, "padding"))
    pairs = ", ".join(f"({each}, {each})" for each in sizes)
    return Explained(
        note("doctor.error_conv_padding", padding=fact(failure, "padding")),
        note("doctor.write_conv_padding", pairs=f"[{pairs}]"),
    )


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "conv rank", explain_conv_rank,
        r"convolution requires lhs and rhs ndim to be equal, got (?P<given>\d+) and (?P<kernel>\d+)"),
    Rule("ValueError", "conv padding", explain_conv_padding,
        r"padding argument to conv_general_dilated should be a string or a sequence of \(low, high\) pairs, got "
        r"(?P<padding>[(\[][\d, ]+[)\]])$"),
)
# fmt: on
