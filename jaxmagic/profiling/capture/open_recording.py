"""Opens recordings that were made elsewhere, perhaps on another machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from google.protobuf.message import DecodeError

from ...errors import NotMeasured
from ...records.names import listed
from ...records.note import note
from ...records.recordings import RecordingFile, recordings
from ...records.storage import is_saved
from ..analysis.interpret import interpreted
from ..analysis.summarize import summarize
from ..record.profile import Profile
from .make_record import make_profile
from .xspace import read_recording

#: At most this many hosts are named.
_MOST_HOSTS = 4

#: The first bytes of a file that is compressed with gzip.
_GZIP = b"\x1f\x8b"


def open_recording(path: Path) -> Profile:
    """Make the profile of a recording in a file or a folder.

    Raises:
        FileNotFoundError: there is no recording.
        NotMeasured: the recording cannot be read, or its files are of different kinds of devices.
    """
    files = recordings(path)
    if is_saved(files[0].data):
        raise NotMeasured(f"{path} is a saved record, not a recording: open it with jaxmagic.load({str(path)!r}).")
    if any(each.data.startswith(_GZIP) for each in files):
        raise NotMeasured(
            f"{path} is compressed: unpack it first if it is a .xplane.pb.gz. A .trace.json.gz cannot be read: open "
            "the .xplane.pb next to it, from which it was made."
        )
    try:
        recording = interpreted(read_recording((each.host, each.data) for each in files))
    except DecodeError:
        raise NotMeasured(_about_broken(next(filter(_is_broken, files)))) from None
    if not recording.tracks:
        raise NotMeasured(
            " ".join([f"{path} is empty: it has no events. Give another recording.", *map(str, recording.notes)])
        )
    profile = make_profile(summarize(recording), recording, here=False)
    if len(files) == 1:
        return profile
    kinds = {each.device.rpartition(" ")[2].partition(":")[0] for each in profile.device_uses} - {"CPU"}
    if len(kinds) > 1:
        raise NotMeasured(
            f"{path} has recordings of different kinds of devices, {' and '.join(sorted(kinds))}, which are not of "
            "one run. Give one file."
        )
    names = listed([each.host for each in files], _MOST_HOSTS)
    return replace(profile, notes=(note("profiling.hosts", hosts=len(files), names=names), *profile.notes))


def _is_broken(file: RecordingFile) -> bool:
    try:
        read_recording([("", file.data)])  # events and what is said of them are messages of their own
    except DecodeError:
        return True
    return False


def _about_broken(file: RecordingFile) -> str:
    if replaced := _replaced(file.data):
        return (
            f"{file.path}: {replaced:,} UTF-8 replacement characters, so it was saved as text. "
            "Copy it again in binary mode."
        )
    return (
        f"{file.path} is not a recording of the JAX profiler, or is truncated. "
        "Give a file that ends in .xplane.pb, or the folder that start_trace() wrote to."
    )


def _replaced(data: bytes) -> int:
    """Count the replacement characters of a file that is text as a whole, which a recording never is."""
    try:
        return data.decode().count("\N{REPLACEMENT CHARACTER}")
    except UnicodeDecodeError:
        return 0
