"""The notes of memory records, word for word, as far as no other test has them."""

from __future__ import annotations

import pytest

from jaxmagic.memory_use.report.notes import NOTES
from jaxmagic.records.note import Note


@pytest.mark.parametrize(
    ("kind", "facts", "sentence"),
    [
        ("unread", {"part": "live_ranges", "error": "E: x"}, "Could not read the live ranges of buffers (E: x)."),
        (
            "interrupted",
            {"part": "heap"},
            "Interrupted while the record was made: memory by call stack could not be read.",
        ),
        (
            "devices_unknown",
            {},
            "Arrays and devices were not sampled: this version of JAX does not show whether a backend has started.",
        ),
        (
            "programs_unknown",
            {},
            "This version of JAX does not show which programs ran: the programs that were compiled are listed.",
        ),
        (
            "shards_not_listed",
            {"arrays": 5},
            "Not listed: 5 unnamed arrays of jax.live_arrays(). Their memory is counted for a listed array. JAX "
            "makes such arrays for a jitted function that captures an array, and for each shard of an array that is "
            "printed, for example.",
        ),
        (
            "shards_not_listed",
            {"arrays": 1},
            "Not listed: 1 unnamed array of jax.live_arrays(). Its memory is counted for a listed array. JAX "
            "makes such arrays for a jitted function that captures an array, and for each shard of an array that is "
            "printed, for example.",
        ),
        ("no_backend", {}, "No JAX backend had been started, so no device memory was in use."),
        ("sampling_hung", {}, "The sampling thread did not end: it hangs while reading the memory of a device."),
        (
            "sampled_less_often",
            {"interval_ns": 20_000_000, "wanted_ns": 1_000_000},
            "Sampled every 20 ms, not 1 ms, to limit overhead.",
        ),
        (
            "samples_thinned",
            {"taken": 400, "kept": 20},
            "The code ran long: 20 of 400 samples are kept, including the extremes.",
        ),
    ],
)
def test_a_note_reads_as_a_sentence(kind: str, facts: dict[str, int | str], sentence: str) -> None:
    assert str(Note(kind=f"memory_use.{kind}", facts=dict(facts))) == sentence


def test_the_lines_of_earlier_calls_are_those_of_jax_before_0_10() -> None:
    assert NOTES["lines_of_earlier_calls"]().startswith("Before JAX 0.10, operations within a nested jitted function")


def test_a_part_of_a_newer_version_is_shown_as_it_is() -> None:
    assert str(Note(kind="memory_use.interrupted", facts={"part": "soul"})) == "memory_use.interrupted, part: soul"
