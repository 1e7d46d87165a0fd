"""Words diagnoses and their notes."""

from __future__ import annotations

from collections.abc import Callable

from .errors import ERROR_NOTES

#: The wording of notes, by the part of their kind after ``doctor.``. Each function gets the facts of a note.
NOTES: dict[str, Callable[..., str]] = {**ERROR_NOTES}
