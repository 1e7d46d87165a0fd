"""Opens recordings that were made by somebody else, perhaps on another machine."""

from __future__ import annotations

from pathlib import Path

from google.protobuf.message import DecodeError

from ..analysis.profile import summarize
from ..errors import NotMeasured
from ..files import recordings
from ..model.profile import Profile
from .profile_record import make_profile
from .xspace import read_recording

#: How what is compressed with gzip begins.
_GZIP = b"\x1f\x8b"


def open_recording(path: Path) -> Profile:
    """The profile in a file, or in a folder.

    Raises:
        FileNotFoundError: there is no recording.
        NotMeasured: it cannot be read.
    """
    files = recordings(path)
    if any(data.startswith(_GZIP) for _, data in files):
        raise NotMeasured(
            f"{path} is compressed: unpack it first if it is a .xplane.pb.gz. A .trace.json.gz is no recording: it "
            "was made of one, the .xplane.pb that lies beside it."
        )
    try:
        recording = read_recording(files)
    except DecodeError as error:
        raise NotMeasured(
            f"{path} is no recording of the JAX profiler, or not a whole one ({error}). "
            "Give a file that ends in .xplane.pb, or the folder that start_trace() was given."
        ) from error
    if not recording.tracks:
        raise NotMeasured(f"{path} is empty: no event was recorded in it.")
    return make_profile(summarize(recording), recording, here=False)
