"""Explains errors inside XLA, whose messages are about its own parts and not about the code."""

from __future__ import annotations

from .....records.note import note
from ....record.failure import Failure
from ..expression import spelled
from ..messages import short_type
from .explained import Explained, Rule
from .operands import fact


def explain_xla(failure: Failure) -> Explained:
    """Explain an error inside XLA; with something to try where that is known."""
    part = "ynnpack" if fact(failure, "ynnpack") else "cudnn" if fact(failure, "cudnn") else ""
    found = note("doctor.error_xla", status=fact(failure, "status"), known=bool(failure.stack))
    return Explained(found, note("doctor.write_xla", part=part))


def explain_transfer(failure: Failure) -> Explained:
    """Explain a transfer that ``jax.transfer_guard`` forbids."""
    found = note(
        "doctor.error_transfer", direction=fact(failure, "direction"), type=short_type(fact(failure, "shape"))
    )
    return Explained(
        found, note("doctor.write_transfer", direction=fact(failure, "direction"), jax=spelled(failure, "jax"))
    )


#: The messages that are explained here: XLA's, which begin with a status.
# fmt: off
RULES = (
    Rule("JaxRuntimeError|XlaRuntimeError", "transfer", explain_transfer,
        r"INVALID_ARGUMENT: Disallowed (?P<direction>host-to-device|device-to-host|device-to-device) transfer: "
        r"(?:aval=ShapedArray\((?P<shape>\w+\[[\d,]*\]))?"),
    Rule("JaxRuntimeError|XlaRuntimeError", "xla", explain_xla,
        r"(?P<status>INTERNAL): (?P<ynnpack>[^\n]*YNNPACK operation failed)"),
    Rule("JaxRuntimeError|XlaRuntimeError", "xla", explain_xla,
        r"(?P<status>INTERNAL|FAILED_PRECONDITION|UNKNOWN): (?P<cudnn>[^\n]*(?:DNN library initialization failed|"
        r"CUDNN_STATUS_NOT_INITIALIZED|Could not create cudnn handle))"),
    Rule("JaxRuntimeError|XlaRuntimeError", "xla", explain_xla,
        r"(?P<status>INTERNAL|UNIMPLEMENTED|UNKNOWN): "),
)
# fmt: on
