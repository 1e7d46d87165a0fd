"""What all tests share: four virtual devices, work that lasts until it is let go, and fabricated records."""

from __future__ import annotations

import base64
import gc
import json
import logging
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

# Before JAX is imported anywhere: as many devices as the multi-device tests need, and none of a GPU's memory.
if os.environ.get("JAXMAGIC_TEST_PLATFORM", "cpu") == "cpu":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

# A shell starts jobs in the background with SIGINT ignored, and tests that interrupt would wait for ever.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No output of a test depends on whether something took longer than a second.
os.environ["TQDM_DISABLE"] = "1"

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import reruns
from hypothesis import settings
from shells import Session, open_shell

import jaxmagic
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.benchmarking.record.samples import Conditions, Trial
from jaxmagic.comparison.record.candidate import Candidate
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.record.curve import Variable
from jaxmagic.comparison.record.sweep import Failure, Point, Sweep
from jaxmagic.compilation.record.compilation import Cause, Compilation
from jaxmagic.errors import LaunchError
from jaxmagic.memory_use.record.heap import HeapDifference, HeapProfile, HeapSample
from jaxmagic.memory_use.record.live_arrays import HeldArray, LiveArrays
from jaxmagic.memory_use.record.memory_profile import Allocation, Buffer, Executable, MemoryProfile
from jaxmagic.memory_use.record.usage import MemoryTimeline
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.environment import Environment
from jaxmagic.runtime.private_api import MISS_LOGGERS, _explaining_place, wait_points
from jaxmagic.timing.capture import waits
from jaxmagic.timing.record import Timing

# No test depends on how fast a machine is; and where all tests run once more, a few examples are enough.
settings.register_profile("full", deadline=None)
settings.register_profile("few", deadline=None, max_examples=20)
settings.load_profile("full")


@pytest.hookimpl(trylast=True)  # behind those that mark what is in their folder
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reruns.rerun(items, can=config.pluginmanager.hasplugin("rerunfailures"))
    if jax.default_backend() == "gpu":
        return
    for item in items:
        if "gpu" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="needs a GPU, and JAX finds none here"))


def pytest_collection_finish() -> None:
    """What has been imported stays: collections in tests, of which there are many, need not look at it."""
    gc.collect()
    gc.freeze()


#: Modules whose tests have a program as their parameter.
_PROGRAMS = "tests/memory_use/capture/test_executables.py", "tests/ecosystem/test_programs.py"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    lines = reruns.summary(terminalreporter.stats)
    if lines:
        terminalreporter.section("Reran: what met the clock, threads or a browser. Mend it", yellow=True)
        for line in lines:
            terminalreporter.line(line)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Send all tests in a browser to one worker, and first: one server, one browser, and nobody waits for them.

    And all tests of one of the programs whose memory is mapped, or of the ecosystem: to compile it takes longer than
    to look at it.

    ``--dist loadgroup`` is made for this, but pytest-xdist 3.8 with pytest 9.2 does not see the groups.
    """
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(_PROGRAMS) and nodeid.endswith("]"):
                return nodeid[nodeid.index("[") :]
            return "browser" if nodeid.startswith("tests/browser/") else nodeid

    return Scheduling(config, log)


@pytest.fixture(autouse=True)
def no_modules_of_tests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for who holds an array looks into the user's modules: here these would be all tests, with pytest.

    That takes longer with every test there is, and the search has a limit. Its own tests do without one.
    """
    if request.path.name != "test_holders.py":
        monkeypatch.setattr("jaxmagic.memory_use.capture.object_graph.is_users_module", lambda _: False)
        monkeypatch.setattr("jaxmagic.memory_use.capture.imported.is_users_module", lambda _: False)
        monkeypatch.setattr("jaxmagic.memory_use.capture.imported._last", {})


@pytest.fixture(autouse=True, scope="module")
def no_programs_of_other_files() -> None:
    """The profile of memory by call stack takes longer with every program that JAX keeps, up to half a minute."""
    jax.clear_caches()


@pytest.fixture(autouse=True)
def few_measurements() -> None:
    """Each test is a session of its own: after many measurements JAX's functions stay replaced until unloading."""
    waits._hooks._times = 0
    waits.restore()


@pytest.fixture(autouse=True)
def no_noise_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts on two records rest on the assumed noise: to measure it takes five processes and a quiet machine."""

    def refuse(*_: Any) -> None:
        raise LaunchError("no process is started for it in tests")

    monkeypatch.setattr("jaxmagic.benchmarking.capture.machine_noise.measure_noise", refuse)
    monkeypatch.setattr("jaxmagic.benchmarking.capture.machine_noise._measured", [])


@dataclass
class Work:
    """Work that lasts tens of milliseconds, on one device or sharded over all.

    The CPU backend runs programs with a callback, and cheap ones, on the calling thread: to go on after the call
    has returned, work has to be real. How long it takes is compared with itself, never with a number.
    """

    function: Any
    argument: Any

    def __call__(self) -> Any:
        return self.function(self.argument)

    def on(self, place: Any) -> Work:
        """The same work on another device or sharding, compiled."""
        moved = Work(self.function, jax.device_put(self.argument, place))
        jax.block_until_ready(moved())
        return moved

    def truth_ns(self) -> int:
        """The shortest time it takes, by hand. A quarter of it is longer than any dispatch."""
        times = []
        for _ in range(5):
            start = time.perf_counter_ns()
            jax.block_until_ready(self())
            times.append(time.perf_counter_ns() - start)
        return min(times)

    def is_left_running_by(self, attempt: Callable[[Any], object]) -> bool:
        """Whether the work still runs after `attempt`, which gets the result; the work is over afterwards."""
        result = self()
        attempt(result)
        running = not result.is_ready()
        jax.block_until_ready(result)
        return running


@pytest.fixture(scope="session")
def work() -> Work:
    x = jax.random.normal(jax.random.key(0), (512, 512))
    it = Work(jax.jit(lambda x: jax.lax.fori_loop(0, 12, lambda i, y: jnp.tanh(y @ x), x)), x)
    jax.block_until_ready(it())
    return it


@pytest.fixture
def x() -> Any:
    return jax.block_until_ready(jnp.ones((8, 8)))


@pytest.fixture
def environment() -> Environment:
    return Environment(
        jaxmagic="0.1.0",
        jax="0.10.2",
        jaxlib="0.10.2",
        python="3.11.7",
        ipython="9.18.1",
        platform="Linux",
        cpu_count=2,
        backend="cpu",
        device_kinds=("cpu",),
        device_count=1,
        local_device_count=1,
        process_count=1,
        x64=False,
        matmul_precision=None,
        xla_flags=None,
        cpu_async_dispatch=True,
        cache_directory=None,
    )


@pytest.fixture
def compilation() -> Callable[..., Compilation]:
    def make(**changes: Any) -> Compilation:
        values: dict[str, Any] = {
            "function": "f",
            "location": "cell.py:1",
            "tracing_ns": 3_700_000,
            "lowering_ns": 8_300_000,
            "compilation_ns": 159_000_000,
            "cache_retrieval_ns": 0,
            "cache": None,
            "saved_ns": None,
            "cause": Cause(kind="first call", reason="first call"),
        }
        return Compilation(**(values | changes))

    return make


@pytest.fixture
def timing(environment: Environment) -> Callable[..., Timing]:
    """A fabricated record whose parts follow from its compilations unless they are given."""

    def make(*compilations: Compilation, **changes: Any) -> Timing:
        stages = {
            name: sum(getattr(each, name) for each in compilations if each.thread is None)
            for name in ("tracing_ns", "lowering_ns", "compilation_ns", "cache_retrieval_ns")
        }
        values: dict[str, Any] = {
            "code": "f(x)",
            "started_at": "2026-01-02T03:04:05.678+00:00",
            "dispatch_ns": sum(stages.values()) + 900_000,
            "wait_ns": 10_100_000,
            "unreached_ns": 0,
            "cpu_user_ns": 210_000_000,
            "cpu_system_ns": 12_000_000,
            "compilations": tuple(compilations),
            "environment": environment,
        }
        return Timing(**(stages | values | changes))

    return make


@pytest.fixture
def benchmark(timing: Callable[..., Timing], compilation: Callable[..., Compilation]) -> Benchmark:
    """A fabricated record in which nothing is wrong: 90 samples of 10 ms, give or take 2 %."""
    rng = np.random.default_rng(3)
    first = timing(compilation())
    return Benchmark(
        code="f(x)",
        started_at=first.started_at,
        first_call=first,
        warmup_ns=(15_000_000, 12_000_000, 10_500_000),
        latency=Trial(samples_ns=tuple(map(round, rng.normal(10e6, 0.2e6, 90))), evaluations=1),
        pipelined=Trial(samples_ns=tuple(map(round, rng.normal(96e6, 1e6, 7))), evaluations=10),
        rtol=0.01,
        budget_ns=10**9,
        stopped_by="precision",
        conditions=Conditions(overhead_ns=900.0, resolution_ns=60, other_load=0.1),
        environment=first.environment,
    )


@pytest.fixture
def compared(timing: Callable[..., Timing], compilation: Callable[..., Compilation]) -> Callable[..., Comparison]:
    """Makes records of numpy and jit, which compiled 171 ms longer, of calls that take so long in the middle."""
    return partial(fabricate_comparison, timing, compilation)


def fabricate_comparison(
    timing: Callable[..., Timing], compilation: Callable[..., Compilation], numpy_ns: float, jit_ns: float
) -> Comparison:
    rng = np.random.default_rng(4)
    moments = np.exp(0.03 * np.cumsum(rng.normal(0, 1, 60)))

    def trial(mean_ns: float) -> Trial:
        return Trial(samples_ns=tuple(map(int, mean_ns * moments * rng.normal(1, 0.02, 60))), evaluations=1)

    def candidate(label: str, mean_ns: float, first_call: Timing) -> Candidate:
        return Candidate(
            label=label,
            code=f"{label}_version(x)",
            first_call=first_call,
            warmup_ns=(11_000_000,),
            latency=trial(mean_ns),
            pipelined=None,
            memory=None,
            check=None,
            conditions=Conditions(overhead_ns=900.0, resolution_ns=60, other_load=0.1),
        )

    eager, jitted = timing(), timing(compilation())
    return Comparison(
        code=None,
        started_at=eager.started_at,
        baseline="numpy",
        twice="numpy",
        candidates=(candidate("numpy", numpy_ns, eager), candidate("jit", jit_ns, jitted)),
        again=trial(numpy_ns),
        rtol=0.01,
        budget_ns=10**9,
        stopped_by="precision",
        environment=eager.environment,
    )


@pytest.fixture
def comparison(compared: Callable[..., Comparison]) -> Comparison:
    """A fabricated record: jit takes 5 ms where numpy takes 10."""
    return compared(10e6, 5e6)


@pytest.fixture
def with_modes(comparison: Comparison) -> Comparison:
    """Of numpy and jit their derivatives as well, each of them twice as slow as its function."""

    def slower(trial: Trial) -> Trial:
        return Trial(samples_ns=tuple(2 * each for each in trial.samples_ns), evaluations=1)

    made = []
    for each in comparison.candidates:
        made.append(replace(each, like="numpy"))
        grad = replace(each, label=f"{each.label} grad", latency=slower(each.latency), like="numpy grad")
        made.append(grad)
    return replace(comparison, candidates=tuple(made))


@pytest.fixture
def named(comparison: Comparison) -> Callable[..., Comparison]:
    """Makes comparisons of as many candidates as there are labels, each of them slower than the one before."""

    def trial(factor: float, rounds: int) -> Trial:
        spread = (1 + 0.0001 * (number * 37 % 101) for number in range(rounds))
        return Trial(samples_ns=tuple(round(5e6 * factor * each) for each in spread), evaluations=1)

    def make(*labels: str, rounds: int = 60) -> Comparison:
        one = comparison.candidates[1]
        candidates = tuple(
            replace(one, label=label, latency=trial(1.3**place, rounds)) for place, label in enumerate(labels)
        )
        again = trial(1.0, rounds)
        return replace(comparison, baseline=labels[0], twice=labels[0], again=again, candidates=candidates)

    return make


@pytest.fixture
def sweep(compared: Callable[..., Comparison], environment: Environment) -> Sweep:
    """A fabricated record: numpy grows as n^2; jit is on a plateau below 64 and overtakes it there; 2048 fails."""
    sizes = (8, 16, 32, 64, 128, 256, 512, 1024)
    points = [
        Point(at=(index,), comparison=compared(10e6 * (n / 64) ** 2, 10e6 * max(n / 64, 1)))
        for index, n in enumerate(sizes)
    ]
    failures = (
        Failure(label="numpy", error="MemoryError: 32 GiB"),
        Failure(label="jit", error="XlaRuntimeError: full"),
    )
    points.append(Point(at=(8,), comparison=None, failures=failures))
    numbers = (*map(float, sizes), 2048.0)
    return Sweep(
        code="numpy: f(n)\njit: g(n)",
        started_at="2026-01-02T03:04:05+00:00",
        variables=(Variable(name="n", labels=tuple(str(int(each)) for each in numbers), numbers=numbers),),
        labels=("numpy", "jit"),
        baseline="numpy",
        points=tuple(points),
        budget_ns=10**10,
        stopped_by="end",
        environment=environment,
    )


@pytest.fixture
def hostile() -> str:
    """What a label may hold, and must stay: text."""
    return (
        "</script><script>window.evil=1</script><img src=x onerror='window.evil=1'>\"'`${1}$x_1$\u2028<!--\u0000"
        + "w" * 500
    )


@pytest.fixture
def still() -> Callable[[str], str]:
    """Finds the SVG inside of the image in a report."""

    def find(html: str) -> str:
        (encoded,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
        return base64.b64decode(encoded).decode()

    return find


@pytest.fixture
def session_state() -> Callable[[], dict[str, Any]]:
    """Everything of the session that a measurement touches, to be compared before and after."""
    from jax._src import monitoring

    def state() -> dict[str, Any]:
        gc.collect()
        return {
            "listeners": (
                list(monitoring.get_event_time_span_listeners()),
                list(monitoring.get_event_listeners()),
                list(monitoring.get_event_duration_listeners()),
            ),
            "loggers": [
                (logger.level, logger.propagate, list(logger.handlers), list(logger.filters), logger.disabled)
                for logger in map(logging.getLogger, ("", "jax", *MISS_LOGGERS))
            ],
            "explain": jax.config.jax_explain_cache_misses,
            "explaining": getattr(*(_explaining_place() or ("", "__doc__"))),
            "waits": [point.original for point in wait_points() if not isinstance(point.original, property)],
            "properties": [point.original.fget for point in wait_points() if isinstance(point.original, property)],
            "threads": {thread.ident for thread in threading.enumerate()},
            "arrays": {id(array) for array in jax.live_arrays()},
        }

    return state


@pytest.fixture
def executable() -> Callable[..., Executable]:
    """Makes programs of two arguments, a temporary and an output, of 1 KiB each and an alignment of none."""

    def buffer(first: int, last: int, instruction: str, **changes: Any) -> Buffer:
        values: dict[str, Any] = {
            "offset_bytes": 0,
            "size_bytes": 1024,
            "first": first,
            "last": last,
            "instruction": instruction,
            "shape": "f32[256]",
            "op_name": f"jit(f)/{instruction}",
            "source": "/home/me/cell.py:3",
        }
        return Buffer(**(values | changes))

    def allocation(kind: Any, *buffers: Buffer) -> Allocation:
        return Allocation(kind=kind, size_bytes=1024, aliased=False, space=0, buffers=buffers)

    def make(**changes: Any) -> Executable:
        values: dict[str, Any] = {
            "name": "jit_f",
            "ran": True,
            "compiled": False,
            "argument_bytes": 2048,
            "output_bytes": 1024,
            "alias_bytes": 0,
            "temporary_bytes": 1024,
            "generated_code_bytes": 0,
            "constant_bytes": 0,
            "steps": 4,
            "allocations": (
                allocation("argument", buffer(0, 3, "a.1", op_name="a", source=None)),
                allocation("argument", buffer(0, 3, "b.1", op_name="b", source=None)),
                allocation("temporary", buffer(2, 3, "dot.1")),
                allocation("output", buffer(3, 3, "add.1")),
            ),
        }
        return Executable(**(values | changes))

    return make


@pytest.fixture
def live_arrays(environment: Environment) -> Callable[..., LiveArrays]:
    """Makes looks at f32 arrays: of so many bytes each, held by the names that they are given."""

    def make(*held: tuple[int, tuple[str, ...]] | HeldArray, **changes: Any) -> LiveArrays:
        values: dict[str, Any] = {
            "arrays": tuple(each if isinstance(each, HeldArray) else held_array(*each) for each in held),
            "started_at": "2026-01-02T03:04:05.678+00:00",
            "search_complete": True,
            "environment": environment,
        }
        return LiveArrays(**(values | changes))

    return make


def held_array(size_bytes: int, names: tuple[str, ...], **changes: Any) -> HeldArray:
    """A vector of f32 on the first CPU."""
    values: dict[str, Any] = {
        "shape": f"f32[{size_bytes // 4}]",
        "dtype": "float32",
        "sharding": "SingleDevice cpu:0",
        "size_bytes": size_bytes,
        "device_bytes": (("cpu:0", size_bytes),),
        "names": names,
    }
    return HeldArray(**(values | changes))


@pytest.fixture
def heap_difference() -> Callable[..., HeapDifference]:
    """Makes a difference in which `x` of 1 KiB was there before, and `step` put 2 KiB there."""

    def make(**changes: Any) -> HeapDifference:
        cell = Frame(function="<module>", file="/home/me/cell.py", line=3)
        step = Frame(function="step", file="/home/me/train.py", line=17)

        def held(size_bytes: int, *stack: Frame) -> HeapSample:
            return HeapSample(size_bytes=size_bytes, count=1, kind="buffer", device="cpu:0", stack=stack)

        before = HeapProfile(samples=(held(1024, cell),), started_at=None)
        after = HeapProfile(samples=(held(1024, cell), held(2048, cell, step)), started_at=None)
        return HeapDifference(**({"before": before, "after": after} | changes))

    return make


@pytest.fixture
def memory_profile(
    timing: Callable[..., Timing], executable: Callable[..., Executable], live_arrays: Callable[..., LiveArrays]
) -> Callable[..., MemoryProfile]:
    """Makes records in which `x` of 1 KiB was there before, `y` of 2 KiB was made, and one program ran."""

    def make(**changes: Any) -> MemoryProfile:
        made = held_array(2048, ("y", "model.w"), made=True)
        values: dict[str, Any] = {
            "timing": timing(),
            "before_bytes": (("cpu:0", 1024),),
            "arrays": live_arrays(made, (1024, ("x",))),
            "executables": (executable(),),
            "timeline": MemoryTimeline(
                interval_ns=1_000_000,
                times_ns=(0, 1_000_000, 2_000_000),
                rss_bytes=(100 * 2**20, 103 * 2**20, 101 * 2**20),
                array_bytes=(1024, None, 3072),
            ),
        }
        return MemoryProfile(**(values | changes))

    return make


@pytest.fixture(params=["timing", "benchmark", "comparison", "sweep", "memory_profile", "live_arrays", "profile"])
def document(request: pytest.FixtureRequest, compilation: Any, tmp_path: Path) -> Any:
    """A saved record of each kind."""
    if request.param == "profile":
        record: Any = jaxmagic.profile(jax.jit(lambda x: x @ x), jnp.ones((50, 50)))
    else:
        record = request.getfixturevalue(request.param)
        if request.param == "timing":
            record = record(compilation(), notes=("a note",))
        elif callable(record):
            record = record()
    return json.loads(jaxmagic.save(record, tmp_path / "record.json").read_text())


@pytest.fixture
def bare() -> Iterator[Session]:
    """A shell without the extension."""
    with open_shell() as session:
        yield session


@pytest.fixture
def session(bare: Session) -> Session:
    """A shell with the extension, with JAX imported and a jitted function `f` and an array `x`."""
    bare.run("%load_ext jaxmagic")
    bare.run("import jax, jax.numpy as jnp\nf = jax.jit(lambda x: x * 2)\nx = jnp.ones((8, 8))\ny = f(x)")
    return bare
