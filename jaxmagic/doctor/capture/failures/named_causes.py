"""Adds what the code around the failing line says beside the message: for kinds that have facts of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FrameType

from ...record.failure import Failure
from .operands import allowed_platforms, default_devices
from .statement import Place
from .wrong_calls.custom_rules import OF_RULES, rule_facts
from .wrong_calls.differentiated import differentiated, optimizer_state
from .wrong_calls.returned import mapped_source


def named_causes(
    facts: Failure, place: Place, frame: FrameType, calls: Sequence[FrameType]
) -> Iterator[tuple[str, str]]:
    """Iterate over facts by their names.

    Args:
        facts: what is known.
        place: where the user's code failed.
        frame: its call.
        calls: the calls that it led to, where JAX has left them in the traceback.
    """
    if facts.kind == "grad output" and facts.library is None:
        yield "function", differentiated(place.node, frame)
    if facts.kind == "grad input":
        yield "optimizer state", optimizer_state(place.node, frame)
    if facts.kind == "vmap sizes":
        yield "mapped", mapped_source(place.node, frame)
    if facts.kind == "devices":
        platform, number = default_devices()
        yield from (("platform", platform), ("present", str(number)))
    if facts.kind == "backend":
        allowed, variable = allowed_platforms()
        yield from (("allowed", allowed), ("variable", "1" if variable else ""))
    if facts.kind in OF_RULES:
        yield from rule_facts(facts.kind, dict(facts.said), frame, calls)
