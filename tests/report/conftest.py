"""A record of each kind that can be shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import jaxmagic
from jaxmagic.records.note import Note
from jaxmagic.session.history import History

RECORDED = Path(__file__).parent.parent / "recorded"


@pytest.fixture
def records(
    request: pytest.FixtureRequest, timing: Any, compilation: Any, memory_profile: Any, heap_difference: Any
) -> dict[str, Any]:
    """Return a record of each kind, with as much content as possible."""
    told = compilation(cause=replace(compilation().cause, remedy="pad the batch"))
    made = {
        "Timing": timing(told, compilation(function="g"), notes=(Note.of_text("a note"),), unreached_ns=None),
        "Benchmark": request.getfixturevalue("benchmark"),
        "Comparison": request.getfixturevalue("comparison"),
        "Sweep": request.getfixturevalue("sweep"),
        "MemoryProfile": memory_profile(heap=heap_difference(), notes=(Note.of_text("a note"),)),
        "Executable": request.getfixturevalue("executable")(),
        "LiveArrays": memory_profile().arrays,
        "HeapDifference": heap_difference(),
        "HeapProfile": heap_difference().after,
        "Profile": jaxmagic.read_profile(RECORDED / "gpu_mi300_2dev_conv_copies.xplane.pb"),
        "Diagnosis": request.getfixturevalue("diagnosis")(),
        "History": History(),
    }
    for each in ("Timing", "Benchmark", "Comparison", "Sweep", "MemoryProfile", "Profile", "Diagnosis"):
        made["History"].append(made[each])
    return made
