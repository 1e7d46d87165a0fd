"""Explains a float as an index that is the carry of a loop, whose body takes its arguments in another order."""

from __future__ import annotations

from ......records.note import note
from .....record.failure import Failure
from ..explained import Explained
from ..operands import fact


def explain_carried(failure: Failure) -> Explained | None:
    """Explain that the carry of a loop is used as an index; ``None`` if it is not, or if that is unknown."""
    loop, kind = fact(failure, "loop"), fact(failure, "of")
    if not loop:
        return None
    body, parameters = fact(failure, "body"), fact(failure, "parameters")
    found = note(
        "doctor.error_carried",
        index=fact(failure, "index"),
        computed=bool(fact(failure, "computed")),
        part=bool(fact(failure, "part")),
        loop=loop,
        counted=kind == "fori_loop",
        single="," not in parameters,
        body="" if body == "<lambda>" else body,
        parameters=parameters,
        carry=fact(failure, "carry"),
    )
    swapped = ", ".join(reversed(parameters.split(", "))) if "," in parameters else ""
    remedy = note("doctor.write_carried", body="" if body == "<lambda>" else body, swapped=swapped)
    return Explained(found, remedy)
