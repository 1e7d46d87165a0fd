"""What all tests share: four virtual devices, and work that lasts until it is let go. Records: ``fabricate``."""

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
from dataclasses import dataclass
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

import cases
import jax
import jax.numpy as jnp
import pytest
import reruns
from fabricate.comparison import benchmark, compared, comparison, named, sweep, with_modes  # noqa: F401
from fabricate.doctor import diagnosis, rule_finding  # noqa: F401
from fabricate.memory_use import executable, heap_difference, live_arrays, memory_profile  # noqa: F401
from fabricate.timing import compilation, environment, timing  # noqa: F401
from hypothesis import settings
from shells import Session, open_shell

import jaxmagic
from jaxmagic.errors import LaunchError
from jaxmagic.memory_use.capture.imported import is_users_module
from jaxmagic.records.note import Note
from jaxmagic.runtime.private_api import MISS_LOGGERS, _explaining_place
from jaxmagic.session import verbs
from jaxmagic.session.history import History
from jaxmagic.timing.capture import waits
from jaxmagic.timing.capture.wait_points import wait_points

# No test depends on how fast a machine is; and where all tests run once more, a few examples are enough.
settings.register_profile("full", deadline=None)
settings.register_profile("few", deadline=None, max_examples=20)
settings.load_profile("full")


@pytest.hookimpl(trylast=True)  # behind those that mark what is in their folder
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reruns.rerun(items, can=config.pluginmanager.hasplugin("rerunfailures"))
    out = cases.left_out([item.nodeid for item in items]) if cases.FEW else set()
    if cases.LIBRARIES:
        out |= {
            item.nodeid
            for item in items
            if getattr(item, "originalname", None) not in cases.tests_with_libraries(item.path)
        }
    if out:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in out])
        items[:] = [item for item in items if item.nodeid not in out]
    if jax.default_backend() == "gpu":
        return
    for item in items:
        if "gpu" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="needs a GPU, and JAX finds none here"))
    # Last: a callback that fails on the main thread leaves JAX 0.7 so that nothing runs beside that thread any more.
    items.sort(key=lambda item: item.path.name == "test_tracebacks.py")


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
    """The search for the holders of an array reads the user's modules: here these would be all tests, with pytest.

    That takes longer with every test there is, and the search has a limit. Its own tests have the module that they
    are in.
    """
    own = str(request.path) if request.path.name == "test_holders.py" else None

    def is_own(held: dict[str, Any]) -> bool:
        file = held.get("__file__")
        return own is not None and is_users_module(held) and (file == own or not str(file).startswith(_TESTS))

    monkeypatch.setattr("jaxmagic.memory_use.capture.references.object_graph.is_users_module", is_own)
    monkeypatch.setattr("jaxmagic.memory_use.capture.imported.is_users_module", is_own)
    monkeypatch.setattr("jaxmagic.memory_use.capture.imported._last", {})


#: The folder of the tests.
_TESTS = str(Path(__file__).parent)


@pytest.fixture(autouse=True, scope="module")
def no_programs_of_other_files() -> None:
    """The profile of memory by call stack takes longer with every program that JAX keeps, up to half a minute.

    Nor do collections, of which there are many, look at what other files have left. And the history, which drops the
    oldest record when there is a new one beyond a thousand, has those of one file.
    """
    verbs._history = History()
    jax.clear_caches()
    gc.collect()
    gc.freeze()


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


@pytest.fixture(autouse=True)
def no_load_of_this_machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports warn about other processes, and a short one has less room for the rest then."""
    if request.path.name != "test_machine_load.py":
        monkeypatch.setattr("jaxmagic.runtime.machine_load.Load.of_others", lambda _: 0.0)


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


@pytest.fixture(params=["timing", "benchmark", "comparison", "sweep", "memory_profile", "live_arrays", "profile"])
def document(request: pytest.FixtureRequest, compilation: Any, tmp_path: Path) -> Any:  # noqa: F811
    """A saved record of each kind."""
    if request.param == "profile":
        record: Any = jaxmagic.profile(jax.jit(lambda x: x @ x), jnp.ones((50, 50)))
    else:
        record = request.getfixturevalue(request.param)
        if request.param == "timing":
            record = record(compilation(), notes=(Note.of_text("a note"),))
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
