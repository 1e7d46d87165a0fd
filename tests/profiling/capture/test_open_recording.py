"""Recordings made elsewhere: of one or several hosts, complete or broken."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from recordings import module_of, operation, space, trace

import jaxmagic
from jaxmagic.errors import NotMeasured
from jaxmagic.profiling.analysis.classify_ops import classify
from jaxmagic.profiling.analysis.summarize import ProfileSummary
from jaxmagic.profiling.capture.make_record import make_profile
from jaxmagic.profiling.capture.xspace import parsed
from jaxmagic.profiling.record.profile import PlaceTime
from jaxmagic.profiling.record.recording import EventMetadata, Trace
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import note

RECORDED = Path(__file__).parents[2] / "recorded"
LAYER = (RECORDED / "train.py").read_text().splitlines().index("    return jnp.tanh(x @ w)") + 1
EVENTS = {"thread": [("f", 0, 900, []), ("dot.1", 10, 20, operation(1))]}


@pytest.fixture
def whole() -> bytes:
    return space({"name": "/host:CPU", "lines": EVENTS})


def test_a_file_and_a_folder_are_opened_and_nothing_is_known_of_their_session(tmp_path: Path, whole: bytes) -> None:
    (tmp_path / "run").mkdir()
    file = tmp_path / "run" / "host.xplane.pb"
    file.write_bytes(whole)
    for path in (file, tmp_path, str(tmp_path)):
        record = jaxmagic.read_profile(path)
        assert (record.wall_ns, record.runs, record.environment) == (None, None, None)
        assert [each.device for each in record.device_uses] == ["CPU:0"]
        assert [each.name for each in record.operation_times] == ["dot.1"]


def test_the_hosts_of_a_run_are_told_apart_and_an_older_run_is_not_mixed_in(tmp_path: Path, whole: bytes) -> None:
    for run, hosts in (("2026_01", ("a", "b", "c")), ("2026_02", ("a", "b"))):
        folder = tmp_path / "plugins" / "profile" / run
        folder.mkdir(parents=True)
        for host in hosts:
            (folder / f"{host}.xplane.pb").write_bytes(whole)
    record = jaxmagic.read_profile(tmp_path)
    assert [each.device for each in record.device_uses] == ["a CPU:0", "b CPU:0"]
    assert "Read as one run on 2 hosts, with a file for each: a, b. If they are different runs" in " ".join(
        str(record).split()
    )


def test_recordings_of_different_kinds_of_devices_are_not_of_one_run(tmp_path: Path, whole: bytes) -> None:
    for name, plane in (("a", "/device:GPU:0"), ("b", "/device:TPU:0")):
        lines = {"XLA Ops": [("dot.1", 10, 20, operation(1))]}
        (tmp_path / f"{name}.xplane.pb").write_bytes(space({"name": plane, "lines": lines}))
    with pytest.raises(NotMeasured, match=r"different kinds of devices, GPU and TPU, .*\. Give one file\.$"):
        jaxmagic.read_profile(tmp_path)
    (tmp_path / "b.xplane.pb").write_bytes(whole)  # of the host alone
    assert jaxmagic.read_profile(tmp_path).device_uses[0].device == "a GPU:0"


def test_operations_without_a_module_are_listed(tmp_path: Path, whole: bytes) -> None:
    file = tmp_path / "host.xplane.pb"
    file.write_bytes(whole)
    record = jaxmagic.read_profile(file)
    assert record.lines()["file"].isna().all()
    assert record.lines()["time_ns"].sum() == record.device_ns


@pytest.mark.parametrize("content", [b"no recording at all", b"\x0a\xff\xff\xff\xff\x0f", b"\xff" * 100])
def test_what_is_no_recording_is_refused_with_what_to_do(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "host.xplane.pb"
    file.write_bytes(content)
    with pytest.raises(NotMeasured, match=r"not a recording of the JAX profiler.*\.xplane\.pb"):
        jaxmagic.read_profile(file)


def test_a_recording_that_was_cut_off_is_refused(tmp_path: Path, whole: bytes) -> None:
    file = tmp_path / "host.xplane.pb"
    file.write_bytes(whole[:-7])
    with pytest.raises(NotMeasured, match="or is truncated"):
        jaxmagic.read_profile(file)


def test_an_empty_recording_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "host.xplane.pb"
    file.write_bytes(b"")
    with pytest.raises(NotMeasured, match="host.xplane.pb is empty: it has no events"):
        jaxmagic.read_profile(file)


def test_what_is_compressed_is_refused_with_what_to_do(tmp_path: Path, whole: bytes) -> None:
    file = tmp_path / "host.xplane.pb.gz"
    file.write_bytes(gzip.compress(whole))
    with pytest.raises(NotMeasured, match=r"unpack it first if it is a .xplane.pb.gz. A .trace.json.gz cannot"):
        jaxmagic.read_profile(file)


def test_of_several_hosts_the_one_that_is_broken_is_named(tmp_path: Path, whole: bytes) -> None:
    (tmp_path / "a.xplane.pb").write_bytes(whole)
    (tmp_path / "b.xplane.pb").write_bytes(whole[:-3])
    with pytest.raises(NotMeasured, match="b.xplane.pb is not a recording of the JAX profiler, or is truncated"):
        jaxmagic.read_profile(tmp_path)


@pytest.mark.parametrize("at", [0, 1])
def test_of_several_hosts_the_one_with_a_broken_event_is_named(at: int, tmp_path: Path, whole: bytes) -> None:
    """Its file can be parsed: an event in it, which is a message of its own, cannot."""
    for host in range(2):
        message = parsed(whole)
        if host == at:
            message.planes[0].lines[0].events[0] += b"\x22\xff"
        (tmp_path / f"{host}.xplane.pb").write_bytes(message.SerializeToString())
    with pytest.raises(
        NotMeasured, match=rf"{at}\.xplane\.pb is not a recording of the JAX profiler, or is truncated"
    ):
        jaxmagic.read_profile(tmp_path)


def test_a_recording_that_was_saved_as_text_is_told_from_other_files(tmp_path: Path, whole: bytes) -> None:
    file = tmp_path / "run" / "host.xplane.pb"
    file.parent.mkdir()
    mangled = whole.decode(errors="replace")
    file.write_text(mangled, encoding="utf-8")
    with pytest.raises(NotMeasured) as caught:
        jaxmagic.read_profile(tmp_path)
    count = mangled.count("\N{REPLACEMENT CHARACTER}")
    assert str(caught.value).startswith(f"{file}: {count:,} UTF-8 replacement characters, so it was saved as text.")
    assert caught.value.__suppress_context__


def test_times_since_1970_are_read_as_those_since_the_beginning(tmp_path: Path, whole: bytes) -> None:
    space = parsed(whole)
    for plane in space.planes:
        for line in plane.lines:
            line.start_ns += 1_790_000_000_000_000_000
    (tmp_path / "before.xplane.pb").write_bytes(whole)
    (tmp_path / "after.xplane.pb").write_bytes(space.SerializeToString())
    before, after = (jaxmagic.read_profile(tmp_path / f"{each}.xplane.pb") for each in ("before", "after"))
    assert after.operation_times == before.operation_times
    assert after.device_uses == before.device_uses


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_where_there_is_no_recording_that_is_said(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError):
        jaxmagic.read_profile(tmp_path / name)


def test_a_recording_by_jax_itself_is_opened(tmp_path: Path) -> None:
    f, x = jax.jit(lambda x: jnp.sort(x * 83)), jnp.ones(3000)
    jax.block_until_ready(f(x))
    with jax.profiler.trace(str(tmp_path)):
        jax.block_until_ready(f(x))
    record = jaxmagic.read_profile(tmp_path)
    assert "sort" in {each.category for each in record.operation_times}


@pytest.mark.parametrize("name", ["gpu_mi300_8dev_conv", "tpu_v6e_4dev_inference"], ids=["mi300", "v6e"])
def test_real_recordings_are_reports_in_every_medium(name: str) -> None:
    record = jaxmagic.read_profile(trace(name))
    bundle: dict[str, Any] = record._repr_mimebundle_()
    assert "(mean of" in bundle["text/plain"]
    assert len(bundle["text/html"]) < 200_000
    for of in ("lines", "operations", "scopes", "devices"):
        assert len(record.to_frame(of))


@pytest.mark.parametrize("version", ["0.8.0", "0.12.0"])
def test_a_recording_of_another_jax_is_reported_alike(version: str) -> None:
    """Recorded on two devices of one CPU with two cores by ``tests/recorded/train.py``."""
    profile = jaxmagic.read_profile(RECORDED / f"jax-{version}.xplane.pb")
    lines = profile.lines()
    assert lines[["file", "line", "function"]].iloc[0].tolist() == ["train.py", LAYER, "layer"]
    assert lines["time_ns"].sum() == profile.device_ns
    assert lines["share"][0] > 0.6
    assert [each.device for each in profile.device_uses] == ["CPU:0", "CPU:1"]
    products = [each for each in profile.operation_times if each.category == "matmul"]
    assert [each.count for each in products] == [3, 3]
    assert sum(each.total_ns for each in products) > 0.4 * profile.device_ns
    (reduced,) = profile.collectives
    assert (reduced.kind, reduced.payload_bytes, reduced.devices) == ("all-reduce", 4, 2)
    assert not any("was not recorded" in str(each) for each in profile.notes)
    assert (
        "jit_step, on each of 2 devices: x f32[256,400] (sharded 2 ways on axis 0), w f32[400,400] (replicated)"
        in " ".join(str(profile).split())
    )


@pytest.mark.parametrize("name", ["gpu_gfx950_te_attention", "gpu_mi300_8dev_conv", "gpu_mi300_gemm"])
def test_calls_of_the_gpu_driver_are_no_operations_of_the_cpu(name: str, tmp_path: Path) -> None:
    """They name the operation that they launch. Without the planes of the GPUs no device time is known."""
    message = parsed(trace(name).read_bytes())
    for at in reversed([at for at, plane in enumerate(message.planes) if plane.name.startswith(b"/device:GPU")]):
        del message.planes[at]
    file = tmp_path / "host.xplane.pb"
    file.write_bytes(message.SerializeToString())
    profile = jaxmagic.read_profile(file)
    assert (profile.device_uses, profile.operation_times, profile.step_times) == ((), (), ())
    told = " ".join(str(profile).split())
    assert "No device time was recorded." in told
    assert "The host called the GPU driver, but the recording has no events of a GPU." in told


def test_source_is_read_of_files_of_python_only_and_said_to_be_that_of_now(tmp_path: Path) -> None:
    code, secret = tmp_path / "code.py", tmp_path / "secret"
    for file in (code, secret):
        file.write_text("def f(x):\n    return x\n")
    frames = [Frame(function="f", file=str(each), line=2) for each in (code, secret, Path("/dev/zero"))]
    places = tuple(PlaceTime(stack=(each,), scope="", time_ns=1, count=1, operations=("dot",)) for each in frames)
    made = make_profile(ProfileSummary(3, (), (), places), Trace((), (), {}, {}), here=False)
    assert [each.file for each in made.codes] == [str(code)]
    assert made.notes == (note("profiling.source_of_now"),)


def test_two_hosts_may_have_given_one_number_to_different_programs() -> None:
    modules = {
        ("a", 4): module_of(lambda x: jnp.sort(x), jnp.ones(300)),
        ("b", 4): module_of(jnp.tanh, jnp.ones(300)),
    }
    found = {
        host: classify(EventMetadata("op", {"hlo_op": min(module.instruction_ids), "program_id": 4}, host), modules)
        for (host, _), module in modules.items()
    }
    assert {host: each.module for host, each in found.items()} == {key[0]: each.name for key, each in modules.items()}


@pytest.mark.parametrize("name", ["gpu_gfx950_te_attention", "gpu_mi300_8dev_conv", "tpu_v6e_4dev_inference"])
def test_all_that_is_told_of_a_recording_is_saved_and_comes_back(name: str, tmp_path: Path) -> None:
    profile = jaxmagic.read_profile(trace(name))
    jaxmagic.save(profile, tmp_path / "profile.json")
    found = jaxmagic.load(tmp_path / "profile.json")
    assert found == profile
    assert str(found) == str(profile)
