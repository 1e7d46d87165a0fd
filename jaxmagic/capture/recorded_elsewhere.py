"""Opens recordings that were made by somebody else, perhaps on another machine."""

from __future__ import annotations

from pathlib import Path

from google.protobuf.message import DecodeError

from ..analysis.profile import summarize
from ..errors import NotMeasured
from ..model.profile import Profile
from ..storage import recordings
from .profile_watch import make_profile
from .xspace import read_recording


def open_recording(path: Path) -> Profile:
    """The profile in a file, or in a folder.

    Raises:
        FileNotFoundError: there is no recording.
        NotMeasured: it cannot be read.
    """
    files = recordings(path)
    try:
        recording = read_recording(files)
    except DecodeError as error:
        raise NotMeasured(
            f"{path} is no recording of the JAX profiler, or not a whole one ({error}). "
            "Give a file that ends in .xplane.pb, or the folder that start_trace() was given."
        ) from error
    return make_profile(summarize(recording), recording, here=False)
