"""The report of a diagnosis: its findings, each with its cost, its evidence and its remedy."""

from __future__ import annotations

from collections.abc import Callable

from ..record.diagnosis import Diagnosis
from . import diagnosis, donation, errors, memory, notes, precision, recompile

NOTES: dict[str, Callable[..., str]] = {
    **notes.NOTES,
    **errors.ERROR_NOTES,
    **recompile.NOTES,
    **donation.NOTES,
    **memory.NOTES,
    **precision.NOTES,
}

REPORTS = {Diagnosis: diagnosis.report}

BRIEFS = {Diagnosis: diagnosis.brief}
