"""The report of a diagnosis: its findings, each with its cost, its evidence and its remedy."""

from __future__ import annotations

from collections.abc import Callable

from ..record.diagnosis import Diagnosis
from . import (
    compiled_code,
    diagnosis,
    elements,
    errors,
    host,
    memory,
    notes,
    precision,
    sharding,
    verified,
)
from .compiling import compile_time, recompile

NOTES: dict[str, Callable[..., str]] = {
    **notes.NOTES,
    **errors.ERROR_NOTES,
    **recompile.NOTES,
    **compile_time.NOTES,
    **verified.NOTES,
    **compiled_code.NOTES,
    **host.NOTES,
    **memory.NOTES,
    **precision.NOTES,
    **sharding.NOTES,
    **elements.NOTES,
}

REPORTS = {Diagnosis: diagnosis.report}

BRIEFS = {Diagnosis: diagnosis.brief}
