"""Records to and from JSON: nothing is lost, and a broken file is told from a good one by its field."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabricate.profiling import fabricated
from hypothesis import given
from hypothesis import strategies as st

import jaxmagic
from jaxmagic.memory_use.record.memory_profile import Suspect
from jaxmagic.records import storage
from jaxmagic.records.note import Note
from jaxmagic.session.history import History
from jaxmagic.subjects import kinds


@pytest.fixture
def saved(timing: Any, compilation: Any, tmp_path: Any) -> Any:
    record = timing(
        compilation(), compilation(cache="hit", saved_ns=-5, cache_retrieval_ns=3), notes=(Note.of_text("a note"),)
    )
    path = jaxmagic.save(record, tmp_path / "timing.json")
    return record, path


def test_a_record_comes_back_equal(saved: Any) -> None:
    record, path = saved
    assert jaxmagic.load(path) == record


def test_sentences_of_earlier_files_are_notes(saved: Any) -> None:
    record, path = saved
    change(path, "version", to=1)
    change(path, "record", "notes", to=["a note", "another <b>one</b>"])
    loaded = jaxmagic.load(path)
    assert list(map(str, loaded.notes)) == ["a note", "another <b>one</b>"]
    assert loaded == replace(record, notes=loaded.notes)
    assert "another <b>" not in loaded._repr_mimebundle_()["text/html"]


def test_a_real_record_comes_back_equal(tmp_path: Any, x: Any) -> None:
    import jax

    with jaxmagic.stopwatch() as watch:
        jax.jit(lambda x: x + 1)(x)
    assert jaxmagic.load(jaxmagic.save(watch.timing, tmp_path / "t.json")) == watch.timing


def change(path: Any, *keys: Any, to: Any) -> None:
    document = json.loads(path.read_text())
    place = document
    for key in keys[:-1]:
        place = place[key]
    if to is ...:
        del place[keys[-1]]
    else:
        place[keys[-1]] = to
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("keys", "to", "message"),
    [
        (["format"], "other", 'no field "format" that says "jaxmagic"'),
        (["version"], 99, 'field "version": expected at most 2, which this jaxmagic reads, got 99. Update jaxmagic'),
        (["version"], 0, 'field "version": expected an integer of at least 1, got 0'),
        (["version"], True, 'field "version"'),
        (["waiting"], 3, 'field "waiting": there is no such field in a file of jaxmagic'),
        (["kind"], "Code", f'field "kind": expected one of {", ".join(kinds("saved"))}, got "Code"'),
        (["record"], [], 'field "record": expected an object, got []'),
        (["record", "wait_ns"], ..., 'field "record.wait_ns": missing'),
        (["record", "wait_ns"], 1.5, 'field "record.wait_ns": expected an integer, got 1.5'),
        (["record", "wait_ns"], True, 'field "record.wait_ns": expected an integer, got true'),
        (["record", "wait_ns"], -1, 'field "record.wait_ns": expected at least 0, got -1'),
        (["record", "wait_ns"], 10**30, 'field "record.wait_ns": expected an integer of at most 60 bits'),
        (
            ["record", "started_at"],
            "<script>",
            'field "record.started_at": expected a time as in ISO 8601, got "<script>"',
        ),
        (["record", "compilations", 0, "last_stage"], "execution", 'field "record.compilations[0].last_stage"'),
        (["record", "code"], 3, 'field "record.code": expected a string, got 3'),
        (["record", "notes", 0], 3, 'field "record.notes[0]": expected an object, got 3'),
        (["record", "notes", 0, "kind"], ..., 'field "record.notes[0].kind": missing'),
        (
            ["record", "notes", 0, "facts", "text"],
            ["a"],
            'notes[0].facts["text"]": expected true or false or an integer or a finite number or a string, got ["a"]',
        ),
        (["record", "notes", 0, "facts", "text"], 10**30, "expected an integer of at most 60 bits"),
        (["record", "surprise"], 3, 'field "record.surprise": there is no such field in a Timing'),
        (["record", "compilations", 0, "cause", "kind"], "magic", 'field "record.compilations[0].cause.kind"'),
        (["record", "compilations", 1, "cache"], "maybe", 'field "record.compilations[1].cache"'),
        (["record", "compilations"], {}, 'field "record.compilations": expected a list'),
        (["record", "environment", "x64"], 0, 'field "record.environment.x64": expected true or false'),
    ],
)
def test_a_broken_file_is_told_by_its_field(saved: Any, keys: Any, to: Any, message: str) -> None:
    _, path = saved
    change(path, *keys, to=to)
    with pytest.raises(jaxmagic.RecordError) as error:
        jaxmagic.load(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_a_field_that_an_earlier_file_lacks_has_its_default(saved: Any) -> None:
    record, path = saved
    change(path, "record", "notes", 0, "facts", to=...)  # its default is made by a function
    change(path, "record", "error", to=...)
    assert jaxmagic.load(path) == replace(record, notes=(Note(kind="text"),))


def test_text_that_is_no_unicode_is_kept(timing: Any, tmp_path: Any) -> None:
    record = timing(code="a file that is called \udcff")
    assert jaxmagic.load(jaxmagic.save(record, tmp_path / "timing.json")) == record


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b"null", b"3", b"[" * 100_000])
def test_a_foreign_file_is_no_record(tmp_path: Any, content: bytes) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(jaxmagic.RecordError, match=r"jaxmagic\.save\(\)"):
        jaxmagic.load(path)


def test_a_missing_file_is_the_systems_own_error(tmp_path: Any) -> None:
    with pytest.raises(FileNotFoundError):
        jaxmagic.load(tmp_path / "none.json")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_any_document_is_a_record_or_a_record_error(value: Any) -> None:
    for document in (value, {"format": "jaxmagic", "version": 1, "kind": "Timing", "record": value}):
        with pytest.raises(jaxmagic.RecordError):
            storage._decode_document(document)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(saved: Any, timing: Any, monkeypatch: Any) -> None:
    record, path = saved
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        jaxmagic.save(timing(), path)
    assert jaxmagic.load(path) == record
    assert [each.name for each in path.parent.iterdir()] == ["timing.json"]


def test_a_new_file_has_the_users_permissions_and_a_replaced_one_keeps_its_own(timing: Any, tmp_path: Any) -> None:
    path = jaxmagic.save(timing(), tmp_path / "t.json")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o600)
    jaxmagic.save(timing(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_sweep_comes_back_equal(sweep: Any, tmp_path: Any) -> None:
    assert jaxmagic.load(jaxmagic.save(sweep, tmp_path / "sweep.json")) == sweep


def test_a_history_comes_back_equal(timing: Any, comparison: Any, tmp_path: Any) -> None:
    history = History(capacity=2)
    history.append(timing())
    history.append(comparison)
    loaded = jaxmagic.load(history.save(tmp_path / "history.json"))
    assert loaded == history
    assert loaded != History()
    assert str(loaded) == str(history)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (3, 'field "record.records": expected a list, got 3'),
        ([3], 'field "record.records[0]": expected an object, got 3'),
        ([{"kind": "History"}], 'field "record.records[0].kind": expected one of Timing, '),
        ([{"kind": "Timing", "record": 1}], 'field "record.records[0].record": expected an object, got 1'),
    ],
)
def test_a_broken_history_is_told_by_its_field(tmp_path: Any, records: Any, message: str) -> None:
    path = History().save(tmp_path / "history.json")
    change(path, "record", "records", to=records)
    with pytest.raises(jaxmagic.RecordError) as error:
        jaxmagic.load(path)
    assert message in str(error.value)


def test_a_record_without_the_fields_of_later_versions_is_read(comparison: Any, tmp_path: Any) -> None:
    path = jaxmagic.save(comparison, tmp_path / "comparison.json")
    change(path, "record", "candidates", 0, "work", to=...)
    assert jaxmagic.load(path) == comparison


def test_only_records_are_saved(tmp_path: Any) -> None:
    with pytest.raises(TypeError, match="save\\(\\): expected a record or the history, got dict"):
        jaxmagic.save({}, tmp_path / "t.json")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [10**400, float("nan"), -(10**400)])
def test_a_number_that_is_none_is_refused(comparison: Any, tmp_path: Any, number: float) -> None:
    path = jaxmagic.save(comparison, tmp_path / "comparison.json")
    change(path, "record", "rtol", to=number)
    with pytest.raises(jaxmagic.RecordError, match='field "record.rtol"'):
        jaxmagic.load(path)


# --- memory ------------------------------------------------------------------------------------------------------


@pytest.fixture
def profile(memory_profile: Any, executable: Any, heap_difference: Any) -> Any:
    """A record with something in each of its fields."""
    usual = memory_profile()
    programs = (
        executable(),
        executable(name="jit_g", allocations=None, steps=None, ran=None, notes=(Note.of_text("why"),)),
    )
    sampled = replace(
        usual.timeline,
        device_bytes={"gpu:0": (1, None, 3)},
        device_peak_bytes={"gpu:0": (None, 7)},
        device_limit_bytes={"gpu:0": 2**33},
        rss_high_water_bytes=(5, 9),
    )
    suspects = (Suspect(path="losses[*]", bytes_seen=(1, 2, 3), arrays=3),)
    heap = heap_difference()
    return replace(
        usual, executables=programs, timeline=sampled, suspects=suspects, heap=heap, notes=(Note.of_text("a note"),)
    )


def test_where_memory_went_comes_back_equal(profile: Any, live_arrays: Any, tmp_path: Any) -> None:
    loaded = jaxmagic.load(jaxmagic.save(profile, tmp_path / "memory.json"))
    assert loaded == profile
    assert str(loaded) == str(profile)
    looked = live_arrays((8, ("x", "y[0]")), (4, ()), notes=(Note.of_text("cut short"),), search_complete=False)
    assert jaxmagic.load(jaxmagic.save(looked, tmp_path / "live.json")) == looked


def test_a_real_profile_comes_back_equal(tmp_path: Any, x: Any) -> None:
    import jax

    found = jaxmagic.memory(jax.jit(lambda x: x @ x), x, pprof=True)
    assert found.heap is not None
    assert jaxmagic.load(found.save(tmp_path / "memory.json")) == found


@pytest.mark.parametrize(
    ("keys", "to", "message"),
    [
        (["before_bytes"], {}, 'field "record.before_bytes": expected a list, got {}'),
        (["before_bytes", 0], ["cpu:0"], 'field "record.before_bytes[0]": expected a list of 2, got ["cpu:0"]'),
        (["before_bytes", 0, 1], "1", 'field "record.before_bytes[0][1]": expected an integer, got "1"'),
        (["before_bytes", 0, 0], None, 'field "record.before_bytes[0][0]": expected a string, got null'),
        (["executables", 0, "peak"], 3, 'field "record.executables[0].peak": there is no such field'),
        (["executables", 0, "ran"], 1, 'field "record.executables[0].ran": expected true or false, got 1'),
        (["executables", 0, "argument_bytes"], ..., 'field "record.executables[0].argument_bytes": missing'),
        (
            ["executables", 0, "allocations", 2, "kind"],
            "heap",
            'field "record.executables[0].allocations[2].kind": expected one of ',
        ),
        (
            ["executables", 0, "allocations", 2, "buffers", 0, "last"],
            99,
            'field "record.executables[0]": buffers: expected live ranges 0 <= first <= last < 4 steps',
        ),
        (["timeline", "device_bytes"], [], 'field "record.timeline.device_bytes": expected an object, got []'),
        (
            ["timeline", "device_bytes", "gpu:0", 1],
            1.5,
            'field "record.timeline.device_bytes["gpu:0"][1]": expected an integer, got 1.5',
        ),
        (
            ["timeline", "device_bytes", "gpu:0"],
            [1],
            'field "record.timeline": gpu:0: expected an entry for each',
        ),
        (
            ["timeline", "device_peak_bytes", "gpu:0"],
            [1, 2, 3],
            'field "record.timeline.device_peak_bytes["gpu:0"]": expected a list of 2',
        ),
        (
            ["timeline", "times_ns"],
            [],
            'field "record.timeline": times_ns: expected at least the sample at the start, got none',
        ),
        (
            ["arrays", "arrays", 0, "size_bytes"],
            -1,
            'arrays[0].size_bytes": expected at least 0',
        ),
        (["arrays", "started_at"], "today", 'field "record.arrays.started_at": expected a time'),
        (["timing"], None, 'field "record.timing": expected an object, got null'),
        (["heap", "after"], None, 'field "record.heap.after": expected an object, got null'),
        (["heap", "after", "samples", 0, "size_bytes"], -1, 'samples[0].size_bytes": expected at least 0'),
        (["heap", "before", "started_at"], "today", 'field "record.heap.before.started_at": expected a time'),
        (
            ["heap", "after", "samples", 0, "stack", 0, "line"],
            "3",
            'field "record.heap.after.samples[0].stack[0].line": expected an integer, got "3"',
        ),
    ],
)
def test_a_broken_profile_is_told_by_its_field(profile: Any, tmp_path: Any, keys: Any, to: Any, message: str) -> None:
    path = jaxmagic.save(profile, tmp_path / "memory.json")
    change(path, "record", *keys, to=to)
    with pytest.raises(jaxmagic.RecordError) as error:
        jaxmagic.load(path)
    assert message in str(error.value)


def test_a_profile_without_what_was_not_measured_is_read(profile: Any, tmp_path: Any) -> None:
    path = jaxmagic.save(profile, tmp_path / "memory.json")
    for name in ("timeline", "suspects", "heap", "notes"):
        change(path, "record", name, to=...)
    assert jaxmagic.load(path) == replace(profile, timeline=None, suspects=(), heap=None, notes=())


@given(json_values)
def test_any_profile_is_a_record_or_a_record_error(value: Any) -> None:
    for kind in ("MemoryProfile", "LiveArrays"):
        with pytest.raises(jaxmagic.RecordError):
            storage._decode_document({"format": "jaxmagic", "version": 1, "kind": kind, "record": value})


def without(value: Any, *names: str) -> Any:
    """What was saved, without some fields, wherever they are."""
    if isinstance(value, dict):
        return {key: without(each, *names) for key, each in value.items() if key not in names}
    return [without(each, *names) for each in value] if isinstance(value, list) else value


def test_records_from_before_library_functions_were_told_are_read(profile: Any, tmp_path: Any) -> None:
    for number, record in enumerate((profile, fabricated())):
        path = jaxmagic.save(record, tmp_path / f"{number}.json")
        saved = json.loads(path.read_text())
        path.write_text(json.dumps(without(saved, "inside", "library")))
        assert without(saved, "inside", "library") != saved
        assert jaxmagic.load(path) == record


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("cmp.png", r"a picture. Write record.figure\(\).savefig\('.*cmp.png'\) for"),
        ("cmp.SVG", "a picture"),
        ("cmp.pdf", "a picture"),
        ("cmp.html", r"a web page. Write record.save\('.*cmp.json'\)"),
        ("cmp.csv", r"a table. Write record.to_frame\(\).to_csv\('.*cmp.csv'\)"),
    ],
)
def test_json_is_not_written_under_the_name_of_another_file(
    name: str, instead: str, tmp_path: Path, timing: Any
) -> None:
    with pytest.raises(ValueError, match=rf"expected a file for JSON, got the name of {instead}"):
        jaxmagic.save(timing(), tmp_path / name)
    assert [*tmp_path.iterdir()] == []


def test_a_recording_is_told_from_a_broken_record(tmp_path: Path) -> None:
    file = tmp_path / "host.xplane.pb"
    file.write_bytes(b"\xa7\x01")
    with pytest.raises(jaxmagic.RecordError, match=r"open it with jaxmagic\.read_profile\('"):
        jaxmagic.load(file)
