"""Keeps recordings in a folder for TensorBoard and XProf, with a list of the runs."""

from __future__ import annotations

import os
from dataclasses import replace
from errno import ENOTDIR
from pathlib import Path

from ...records.files import path_of
from ...records.note import note
from ...records.recordings import append_entry, copy_folder
from ...records.storage import encode
from ..record.profile import Profile

#: Where both look for recordings in their ``logdir``; each run has a folder of its own there.
_RUNS = Path("plugins", "profile")

_RESULTS = "results.json"


class LogDir:
    """A folder for recordings.

    Args:
        folder: the path of the folder, which is created if it does not exist.
        label: the name of a folder in it for related recordings; without one they are kept in `folder` itself.

    Raises:
        TypeError: `folder` is not a path.
        ValueError: the path is empty, or the label is not a valid name of a folder.
        OSError: the folder cannot be written to.
    """

    def __init__(self, folder: str | os.PathLike[str], label: str | None = None) -> None:
        path = path_of("logdir", folder, "logdir='runs'", "a folder")
        if not os.fspath(folder):
            raise ValueError("expected a folder, got an empty name. Write . for the current one")
        if label is not None and (label in ("", ".", "..") or label != Path(label).name or not label.isprintable()):
            raise ValueError(f"label: expected the name of a folder, got {label!r}. Write for example baseline")
        if path.exists() and not path.is_dir():
            raise NotADirectoryError(ENOTDIR, "This is a file, not a folder", str(path))
        self.folder = path
        self.label = label
        self._runs = self.folder / (label or "") / _RUNS
        self._runs.mkdir(parents=True, exist_ok=True)
        if not os.access(self._runs, os.W_OK):
            raise PermissionError(f"Nothing can be written into the folder {self._runs}")

    def keep(self, recorded: Path) -> Path:
        """Copy the recording below a folder of the profiler, and return the path of the copy.

        Raises:
            OSError: the copy failed; then no part of it is left.
        """
        (run,) = (recorded / _RUNS).iterdir()
        return copy_folder(run, self._runs)

    def listed(self, record: Profile) -> Profile:
        """Add a run to the list; an error becomes a note of the returned record."""
        try:
            self.note(record)
        except Exception as problem:
            return replace(record, notes=(*record.notes, note("profiling.not_listed", error=str(problem))))
        return record

    def note(self, record: Profile) -> None:
        """Add a run to the list.

        Raises:
            OSError: the list cannot be written.
            RecordError: the file is not a list of runs.
        """
        kept = None if record.kept is None else Path(record.kept)
        append_entry(
            self.folder / _RESULTS,
            {
                "label": self.label,
                "started_at": record.started_at,
                "code": record.code,
                "execution_time_ns": record.wall_ns,
                "recorded_ns": record.recorded_ns,
                "device_ns": record.device_ns,
                "runs": record.runs,
                "success": record.error is None,
                "error": record.error,
                "recording": None if kept is None else kept.relative_to(self.folder).as_posix(),
                "environment": encode(record.environment),
            },
        )
