"""Steps and their parts, in traces whose every moment is known, and in real ones."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.profiler import ProfileData
from recordings import recording_of, trace

from jaxmagic.profiling.analysis.devices.step_parts import mean_parts, step_parts
from jaxmagic.profiling.analysis.devices.steps import MOST_STEPS
from jaxmagic.profiling.analysis.summarize import ProfileSummary, summarize
from jaxmagic.profiling.record.recording import EventMetadata, Role, Trace, TraceLine
from jaxmagic.profiling.record.steps import StepTimes

PARTS = ("compute_ns", "collective_ns", "copy_ns", "input_ns", "host_ns", "idle_ns")

#: Operations of a program, then what the host does.
KINDS = (
    EventMetadata("dot", {"hlo_op": "dot", "hlo_module": "jit_step", "program_id": 1}),
    EventMetadata("all-reduce", {"hlo_op": "all-reduce", "hlo_module": "jit_step", "program_id": 1}),
    EventMetadata("MemcpyH2D", {"memcpy_details": "kind:H2D size:8"}),
    EventMetadata("$data.py:7 __next__", {}),
    EventMetadata("$train.py:9 fit", {}),
    EventMetadata("tpu::System::TransferToDevice", {}),
    EventMetadata("train", {"step_num": 0}),
    EventMetadata("train", {"step_num": 1}),
    EventMetadata("jit_step(12)", {}),
    EventMetadata("1", {}),
    EventMetadata("2", {}),
    EventMetadata("$builtins next", {}),
    EventMetadata("$data.py:9 next_batch", {}),
    EventMetadata("copies of __next__", {}),
    EventMetadata("eval", {"step_num": 0}),
    EventMetadata("while", {"hlo_op": "while", "hlo_module": "jit_sample", "program_id": 2}),
    EventMetadata("jit_sample(34)", {}),
)
(
    DOT, REDUCE, MEMCPY, NEXT, FIT, TRANSFER, TRAIN, TRAIN_1, PROGRAM, STEP, STEP_2, BUILTIN_NEXT, BATCH, MINE,
    EVAL, SAMPLE, SAMPLER,
) = range(len(KINDS))  # fmt: skip


def track(device: str | None, role: Role, *events: tuple[int, int, int], name: str = "") -> TraceLine:
    kinds, start, end = (np.array(each, np.int64) for each in zip(*events, strict=True))
    return TraceLine(
        name or ("python" if device is None else "XLA Ops"), device, role, kinds, start * 1000, end * 1000
    )


def of(*tracks: TraceLine) -> ProfileSummary:
    return summarize(Trace(tracks, KINDS, {}, {}))


def steps(*tracks: TraceLine) -> StepTimes:
    (found,) = of(*tracks).step_times
    return found


def row(found: StepTimes, number: int = 0) -> dict[str, int]:
    return {name: getattr(found, name)[number] for name in ("time_ns", *PARTS) if getattr(found, name)[number]}


def test_a_step_is_divided_into_what_the_device_did_and_what_it_waited_for() -> None:
    device = track(
        "GPU:0", "operations", (DOT, 0, 10), (REDUCE, 8, 15), (MEMCPY, 15, 17), (DOT, 100, 110), (DOT, 200, 210)
    )
    host = track(None, "host", (FIT, 0, 90), (NEXT, 20, 50), (TRANSFER, 50, 60))
    found = steps(device, host)
    assert (found.device, found.name, found.known_by, found.start_ns) == ("GPU:0", "jit_step", "program", (0, 100))
    assert row(found) == {
        "time_ns": 100, "compute_ns": 10, "collective_ns": 5, "copy_ns": 2, "input_ns": 40, "host_ns": 33,
        "idle_ns": 10,
    }  # fmt: skip
    assert row(found, 1) == {"time_ns": 100, "compute_ns": 10, "idle_ns": 90}


def test_two_runs_of_a_program_are_no_steps() -> None:
    assert of(track("GPU:0", "operations", (DOT, 0, 10), (DOT, 20, 30))).step_times == ()


@pytest.mark.parametrize("recorded", [True, False])
def test_a_program_that_repeats_beside_one_with_most_of_the_time_makes_no_steps(recorded: bool) -> None:
    """As where random keys are split three times before a sampler runs all its steps in one program."""

    def with_long(end: int) -> ProfileSummary:
        splits = [(DOT, at, at + 10) for at in (0, 20, 40)]
        programs = [(PROGRAM, start, end) for _, start, end in splits]
        tracks = [track("GPU:0", "operations", *splits, (SAMPLE, 60, end))]
        if recorded:
            tracks.append(track("GPU:0", "programs", *programs, (SAMPLER, 60, end)))
        return of(*tracks)

    assert with_long(91).step_times == ()
    (found,) = with_long(89).step_times
    assert (found.name, found.time_ns) == ("jit_step", (20, 20))


def test_marks_of_the_profiler_come_before_those_of_the_code_and_these_before_programs() -> None:
    device = track("TPU:0", "operations", *((DOT, at, at + 5) for at in (0, 10, 20, 30)))
    marked = track("TPU:0", "steps", (STEP, 0, 18), (STEP_2, 20, 38))
    annotated = track(None, "host", (TRAIN, 0, 15), (TRAIN_1, 20, 35))
    found = steps(device, marked, annotated)
    assert (found.known_by, found.time_ns) == ("steps", (18, 15))  # its last operation ends at 35
    found = steps(device, annotated)
    assert (found.known_by, found.name, found.time_ns) == ("annotation", "train", (15, 15))
    assert (steps(device).known_by, steps(device).time_ns) == ("program", (10, 10, 10))
    one = steps(device, track(None, "host", (TRAIN, 5, 25)))
    assert (one.known_by, one.start_ns, one.time_ns) == ("annotation", (5,), (20,))
    before = steps(device, track(None, "host", (TRAIN, -30, -10)))
    assert before.known_by == "program"


def test_marks_of_several_names_are_no_sequence_and_a_step_ends_with_its_mark() -> None:
    """Training takes 10 and 12 ns, evaluation twice 40 ns, and nothing is marked between them."""
    device = track("GPU:0", "operations", *((DOT, at, at + 5) for at in (0, 20, 100, 120, 200)))
    marks = ((TRAIN, 0, 10), (EVAL, 20, 60), (TRAIN_1, 100, 112), (EVAL, 120, 160), (TRAIN, 200, 205))
    found = steps(device, track(None, "host", *marks))
    assert (found.name, found.other_names) == ("train", ("eval",))
    assert (found.start_ns, found.time_ns, found.compute_ns) == ((0, 100, 200), (10, 12, 5), (5, 5, 5))
    rare = track("GPU:0", "operations", (DOT, 0, 5), (DOT, 100, 105))
    assert steps(rare, track(None, "host", *marks[:2])).name == "train"  # as many marks: those that begin first
    assert steps(rare, track(None, "host", *marks[1:3])).name == "eval"


def test_marks_around_the_dispatch_alone_are_no_steps_where_a_program_repeats() -> None:
    device = track("GPU:0", "operations", *((DOT, at, at + 20) for at in (5, 30, 60, 90)))
    marks = track(None, "host", (TRAIN, 0, 5), (TRAIN_1, 5, 11), (EVAL, 12, 13))
    found = steps(device, marks)
    assert (found.known_by, found.time_ns, found.other_names) == ("program", (25, 30, 30), ("train", "eval"))
    half = track(None, "host", (TRAIN, 0, 55), (EVAL, 60, 61))
    assert (steps(device, half).known_by, steps(device, half).other_names) == ("annotation", ("eval",))
    less = track(None, "host", (TRAIN, 0, 49))
    assert steps(device, less).known_by == "program"
    rare = track("GPU:0", "operations", (DOT, 5, 25), (DOT, 30, 50))
    assert (steps(rare, marks).known_by, steps(rare, marks).time_ns) == ("annotation", (6,))


def test_a_mark_within_one_of_its_name_and_one_of_another_thread_are_no_steps_of_their_own() -> None:
    device = track("GPU:0", "operations", (DOT, 0, 5), (DOT, 90, 100))
    inner = track(None, "host", (TRAIN, 0, 40), (TRAIN_1, 10, 20), (TRAIN_1, 40, 80))
    other = track(None, "host", (TRAIN, 5, 50), name="loader")
    assert steps(device, inner, other).time_ns == (40, 40)


def test_marks_are_those_of_the_host_whose_device_it_is() -> None:
    kinds = tuple(EventMetadata("train", {"step_num": 0}, host) for host in ("one", "two"))
    dots = tuple(EventMetadata("dot", {"hlo_op": "dot", "program_id": 1}, host) for host in ("one", "two"))
    devices = [track(f"{host} GPU:0", "operations", (at + 2, 0, 50)) for at, host in enumerate(("one", "two"))]
    hosts = [track(None, "host", (0, 0, 20), (0, 20, 50)), track(None, "host", (1, 0, 10), (1, 10, 50))]
    found = summarize(Trace((*devices, *hosts), kinds + dots, {}, {})).step_times  # type: ignore[arg-type]
    assert {each.device: each.time_ns for each in found} == {"one GPU:0": (20, 30), "two GPU:0": (10, 40)}


def test_the_marks_of_our_own_runs_are_no_steps() -> None:
    import jaxmagic

    profile = jaxmagic.profile(jax.jit(lambda x: x @ x), jnp.ones((64, 64)), n=3)
    assert profile.runs == 3
    assert profile.step_times == ()


def test_of_very_many_steps_the_first_are_kept_and_the_totals_are_of_all() -> None:
    """500 steps of 10 ns, each with 4 of computation, then 1,000 of 40 ns."""
    starts = [*range(0, 10 * MOST_STEPS, 10), *range(10 * MOST_STEPS, 10 * MOST_STEPS + 40 * 1001, 40)]
    found = steps(track("GPU:0", "operations", *((DOT, at, at + 4) for at in starts)))
    assert len(found.start_ns) == len(found.time_ns) == len(found.compute_ns) == MOST_STEPS
    assert set(found.time_ns) == {10}
    parts = step_parts([found])
    assert parts is not None
    assert (parts.steps, parts.medians_ns, parts.low_ns, parts.high_ns) == (1500, (40, 40), 10, 40)
    assert parts.shares["compute"] == pytest.approx(1500 * 4 / 45_000)
    assert mean_parts(found) == pytest.approx(
        {"compute": 4, "unexplained wait": 26, "collectives": 0, "memcpy": 0, "input wait": 0, "host wait": 0}
    )
    few = steps(track("GPU:0", "operations", *((DOT, at, at + 4) for at in starts[: MOST_STEPS + 1])))
    assert (len(few.time_ns), few.all_steps) == (MOST_STEPS, None)


def test_that_the_next_item_is_fetched_is_known_by_pythons_own_names_for_it_alone() -> None:
    device = track("GPU:0", "operations", *((DOT, at, at + 10) for at in (0, 100, 200, 300)))
    host = track(None, "host", (BUILTIN_NEXT, 10, 40), (BATCH, 110, 140), (MINE, 210, 240))
    found = steps(device, host)
    assert (found.input_ns, found.host_ns) == ((30, 0, 0), (0, 30, 30))


@pytest.mark.clock
def test_a_host_callback_is_the_hosts_time_and_no_computation() -> None:
    import time

    import jaxmagic

    def slowly(x: np.ndarray) -> np.ndarray:
        time.sleep(0.02)
        return np.asarray(x)

    @jax.jit
    def called(x: jax.Array) -> jax.Array:
        return jax.pure_callback(slowly, jax.ShapeDtypeStruct(x.shape, x.dtype), x) + 1

    def loop() -> None:
        x = jnp.ones(4)
        for _ in range(5):
            x = called(x).block_until_ready()

    profile = jaxmagic.profile(loop)
    (used,) = profile.device_uses
    assert used.callback_ns >= 5 * 19e6
    assert used.compute_ns < 1e6
    assert used.callback_ns + used.compute_ns <= used.busy_ns
    (found,) = profile.step_times
    assert all(host >= 19e6 for host in found.host_ns)
    assert sum(found.compute_ns) < 1e6
    gaps = [track for track in profile.timeline.tracks if track.shows == "gaps"] if profile.timeline else []
    assert "waiting for host callbacks" in {profile.timeline.labels[each].name for each in gaps[0].labels}  # type: ignore[union-attr]


def test_steps_that_begin_before_the_first_operation_are_told_from_that_on() -> None:
    """Device activity before the first operation and after the last one is unknown, and counts as no part."""
    device = track("GPU:0", "operations", (DOT, 20, 30), (DOT, 60, 70))
    found = steps(device, track(None, "host", (TRAIN, 0, 40), (TRAIN_1, 50, 200)))
    assert (found.start_ns, found.time_ns, found.compute_ns) == ((0, 30), (20, 20), (10, 10))
    assert steps(device, track("GPU:0", "steps", (STEP, 0, 10), (STEP_2, 50, 200))).time_ns == (20,)


def test_programs_that_the_profiler_tells_are_taken_as_they_are() -> None:
    """The program ids in their names are not shown; the last execution has no next one."""
    device = track("TPU:0", "operations", (DOT, 2, 5), (DOT, 12, 15), (DOT, 22, 25))
    programs = track("TPU:0", "programs", (PROGRAM, 0, 6), (PROGRAM, 10, 16), (PROGRAM, 20, 26))
    found = steps(device, programs)
    assert (found.name, found.start_ns, found.time_ns) == ("jit_step", (0, 8), (8, 10))


def test_steps_of_a_tpu_are_by_its_own_clock() -> None:
    """The profiler estimates that steps take 551 to 982 ms; by the clock of each device all of them take 784 ms."""
    planes = {each.name: each for each in ProfileData.from_file(str(trace("tpu_v6e_4dev_inference"))).planes}
    found = summarize(recording_of("tpu_v6e_4dev_inference")).step_times
    assert [each.device for each in found] == ["TPU:0", "TPU:1", "TPU:2", "TPU:3"]
    for device in found:
        (operations,) = (each for each in planes[f"/device:{device.device}"].lines if each.name == "XLA Ops")
        first = (dict(each.stats) for each in operations.events if each.name.startswith("%copy-start = "))
        took_ns = np.diff(sorted(int(each["device_offset_ps"]) for each in first)) / 1000
        assert np.array(device.time_ns) == pytest.approx(took_ns, abs=1000)
        assert 783e6 < took_ns.min() <= took_ns.max() < 785e6
        parts = np.sum([getattr(device, each) for each in PARTS], axis=0)
        assert parts.tolist() == list(device.time_ns)
        assert max(device.copy_ns) - min(device.copy_ns) < 1e6  # copies belong to the steps that made them


def test_a_loop_in_a_program_is_not_taken_for_steps_and_a_lost_event_for_no_fewer() -> None:
    """The all-reduce ends each execution; one of them was not recorded. The dot runs three times in each."""
    events = [(DOT, at + each, at + each + 1) for at in range(0, 500, 100) for each in (0, 2, 4)]
    others = [(REDUCE, at + 6, at + 8) for at in range(0, 500, 100) if at != 200]
    copies = [(MEMCPY, at + 9, at + 10) for at in range(0, 500, 100)]
    made = sorted(events + others + copies, key=lambda each: each[1])
    assert steps(track("GPU:0", "operations", *made)).time_ns == (100, 200, 100)


@given(st.data())
def test_parts_are_those_of_a_simulation(data: Any) -> None:
    """Each nanosecond is assigned by the device's activity first, then by the host's."""
    spans = st.lists(st.tuples(st.integers(0, 290), st.integers(1, 20)), max_size=6)
    begins = (0, 100, 200)
    device = {DOT: [(at, 10) for at in begins], REDUCE: data.draw(spans), MEMCPY: data.draw(spans)}
    host = {FIT: data.draw(spans), NEXT: data.draw(spans), TRANSFER: data.draw(spans)}

    def busy(kind: int, where: dict[int, list[tuple[int, int]]]) -> np.ndarray:
        found = np.zeros(400, bool)
        for start, length in where[kind]:
            found[start : start + length] = True
        return found

    tracks = [
        track(
            "GPU:0", "operations", *((kind, at, at + length) for at, length in sorted(found)), name=f"Stream #{kind}"
        )
        for kind, found in device.items()
        if found
    ]
    events = sorted((at, kind, at + length) for kind, found in host.items() for at, length in found)
    tracks += [track(None, "host", *((kind, at, end) for at, kind, end in events))] if events else []
    (found,) = of(*tracks).step_times
    dot, reduce, memcpy = (busy(each, device) for each in (DOT, REDUCE, MEMCPY))
    fit, fetch, transfer = (busy(each, host) for each in (FIT, NEXT, TRANSFER))
    free = ~dot & ~reduce & ~memcpy
    wanted = (
        dot, reduce & ~dot, memcpy & ~dot & ~reduce, free & (transfer | fetch), free & fit & ~transfer & ~fetch,
        free & ~transfer & ~fetch & ~fit,
    )  # fmt: skip
    for number in range(2):
        here = slice(100 * number, 100 * (number + 1))
        assert [getattr(found, name)[number] for name in PARTS] == [int(each[here].sum()) for each in wanted]


@pytest.mark.parametrize(
    ("name", "devices", "count", "program"),
    [
        ("gpu_gfx950_te_attention", 1, 4, "jit_loss_fn"),
        ("gpu_mi300_8dev_conv", 8, 4, "jit_forward_3d_conv"),
        ("tpu_v6e_4dev_inference", 4, 99, "jit_f"),
    ],
)
def test_real_recordings_have_steps_that_add_up(name: str, devices: int, count: int, program: str) -> None:
    times = summarize(recording_of(name))
    assert [each.name for each in times.step_times] == [program] * devices
    for each in times.step_times:
        assert len(each.time_ns) == count
        assert [sum(parts) for parts in zip(*(getattr(each, part) for part in PARTS), strict=True)] == list(
            each.time_ns
        )
        assert min(map(min, (getattr(each, part) for part in PARTS))) >= 0
        assert all(
            abs(low + long - high) <= 1
            for low, long, high in zip(each.start_ns, each.time_ns, each.start_ns[1:], strict=False)
        )
