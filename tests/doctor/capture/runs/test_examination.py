"""How often the code runs, why not more often, and what is kept of it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from shells import Session

import jaxmagic
from jaxmagic.doctor.capture import changes
from jaxmagic.doctor.capture.runs import observed_runs
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.rules import examine as applied
from jaxmagic.runtime.machine_load import Load
from jaxmagic.runtime.private_api import profiler_running

SETUP = """
import jax, jax.numpy as jnp
runs = []
f = jax.jit(lambda x: jnp.sin(x) + 1)
update = jax.jit(lambda x: x + 1, donate_argnums=0)
x, state = jnp.ones(8), {"w": jnp.ones(8)}
"""


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Evidence]:
    """The evidence that the rules get."""
    found: list[Evidence] = []
    monkeypatch.setattr(
        applied, "RULES", (applied.RULES[0]._replace(look=lambda evidence: found.append(evidence) or ()),)
    )
    return found


@pytest.fixture
def magics(session: Session) -> Session:
    session.run(SETUP)
    return session


def diagnosed(magics: Session, code: str) -> Any:
    magics.run(f"{code.replace('%jaxdoctor', '%jaxdoctor -q -v found', 1)}")
    return magics.shell.user_ns["found"]


def test_clean_code_runs_once_observed_twice_timed_and_once_recorded(magics: Session) -> None:
    magics.run("def counted(x):\n    calls['n'] += 1\n    return f(x)\ncalls = {'n': 0}")
    found = diagnosed(magics, "%jaxdoctor --repeat counted(x)")
    assert len(found.warm) == 2 or sum(each.wall_ns for each in found.warm) >= 10**8  # a very busy machine
    assert len(found.runs) == 2 + len(found.warm)
    assert magics.shell.user_ns["calls"]["n"] == len(found.runs) + 1
    assert found.profile.runs == 1
    assert not [each for each in found.notes if each.kind != "doctor.reads_unseen"]  # on Python 3.11


def test_the_load_of_other_processes_is_that_of_all_runs(magics: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A single run may be too short for it to be known."""

    class Busy(Load):
        def of_others(self) -> float:
            return 1.5

    monkeypatch.setattr(observed_runs, "Load", Busy)
    found = diagnosed(magics, "%jaxdoctor f(x)")
    assert found.profile.other_load == found.other_load == 1.5


@pytest.mark.parametrize("every", [1, 2, 3])
def test_code_that_compiles_in_later_runs_runs_no_more_often_than_is_said(magics: Session, every: int) -> None:
    magics.run(
        "calls = {'n': 0}\n"
        "def counted(x):\n"
        "    calls['n'] += 1\n"
        f"    return jax.jit(lambda v: v + 1)(x) if calls['n'] % {every} == 0 else f(x)"
    )
    found = diagnosed(magics, "%jaxdoctor --repeat counted(x)")
    assert magics.shell.user_ns["calls"]["n"] == len(found.runs) + 1
    assert len(found.runs) <= 4


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("%jaxdoctor x = f(x)", "assigns what it reads (x)"),
        ("%jaxdoctor runs.append(1)", "changes what it reads (runs)"),
        ("%jaxdoctor update(x)", "donates or deletes what it reads (x)"),
        ("%jaxdoctor update(state['w'])", "donates or deletes what it reads (state['w'])"),
        ("%%jaxdoctor\nfor _ in range(3):\n    x = f(x)", "assigns what it reads (x)"),
    ],
)
def test_code_that_would_do_something_else_next_time_runs_once(magics: Session, code: str, why: str) -> None:
    found = diagnosed(magics, code)
    assert len(found.runs) == 1
    told = f"The code ran only once, because it {why}. --repeat runs it several times, which some rules need."
    assert told in " ".join(str(found).split())
    assert len(magics.shell.user_ns["runs"]) == ("runs" in code)


def test_a_function_that_assigns_a_global_runs_once(magics: Session) -> None:
    magics.run("def train(n):\n    global steps\n    for _ in range(n):\n        steps = steps + 1\nsteps = 0")
    found = diagnosed(magics, "%jaxdoctor train(5)")
    assert magics.shell.user_ns["steps"] == 5
    assert "because it assigns what it reads (steps)" in " ".join(str(found).split())


def test_it_is_told_if_changes_of_some_objects_only_are_seen(
    magics: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MOST_OBJECTS", 60)
    magics.run("far = [[[n]] for n in range(80)]\ndef change(x):\n    far[-1][0][0] += 1\n    return f(x)")
    found = diagnosed(magics, "%jaxdoctor change(x)")
    assert magics.shell.user_ns["far"][-1][0][0] == 80 + len(found.runs)
    assert "Changes to others than the nearest of them are not seen" in " ".join(map(str, found.notes))
    magics.run("del far[10:]")
    assert len(diagnosed(magics, "%jaxdoctor change(x)").runs) == 1


def test_code_whose_methods_train_is_recorded_in_its_one_run(magics: Session, seen: list[Evidence]) -> None:
    magics.run(
        "class Trainer:\n    def __init__(self):\n        self.w = x\n"
        "    def fit(self):\n        self.w = f(self.w)\ntrainer = Trainer()"
    )
    found = diagnosed(magics, "%jaxdoctor trainer.fit()")
    assert "because it assigns what it reads (trainer.w)" in " ".join(str(found).split())
    assert len(found.runs) == 1
    assert seen[0].profile is not None
    assert seen[0].waits is not None


def test_a_condition_is_left_to_the_comparison_of_before_and_after(magics: Session) -> None:
    magics.run("def perhaps():\n    global steps\n    if steps < 1:\n        steps = steps + 1\nsteps = 0")
    found = diagnosed(magics, "%jaxdoctor perhaps()")
    assert "because it changes what it reads (steps)" in " ".join(str(found).split())
    assert len(diagnosed(magics, "%jaxdoctor perhaps()").runs) > 1


def test_code_that_assigns_an_attribute_of_a_module_runs_once(
    magics: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jaxmagic.doctor.capture.stored_names.is_users_module", lambda _: True)
    magics.run("import types\nsettings = types.ModuleType('settings')\nsettings.steps = 0")
    found = diagnosed(magics, "%jaxdoctor settings.steps += 5")
    assert magics.shell.user_ns["settings"].steps == 5
    assert "because it changes what it reads (settings.steps)" in " ".join(str(found).split())


def test_random_numbers_are_those_of_one_run(magics: Session) -> None:
    magics.run("import numpy as np\nrng = np.random.default_rng(0)\nnp.random.seed(0)")
    found = diagnosed(magics, "%jaxdoctor y = rng.random(), np.random.rand(), f(x)")
    drawn = magics.run("y[0], y[1], rng.random(), np.random.rand()")
    magics.run("rng = np.random.default_rng(0)\nnp.random.seed(0)")
    once = magics.run("a, b = rng.random(), np.random.rand()\na, b, rng.random(), np.random.rand()")
    assert len(found.runs) >= 3
    assert drawn == once


def test_random_numbers_are_put_back_after_an_error(magics: Session) -> None:
    magics.run(
        "import random\nrandom.seed(0)\ndef f(seen=iter([1])):\n    random.random()\n    runs.pop()\nruns.append(1)"
    )
    magics.run("%jaxdoctor -q --repeat f()", fails=IndexError)
    drawn = magics.run("random.random()")
    assert magics.run("random.seed(0)\nrandom.random()\nrandom.random()") == drawn


def test_code_whose_second_run_changes_what_the_first_made_runs_twice(magics: Session) -> None:
    magics.run(
        "def counted(x):\n    calls.made = getattr(calls, 'made', {'n': 0})\n    calls.made['n'] += 1\n"
        "    return f(x)\nclass Calls: pass\ncalls = Calls()"
    )
    found = diagnosed(magics, "%jaxdoctor counted(x)")
    assert len(found.runs) == magics.shell.user_ns["calls"].made["n"] == 2
    assert "The code ran only twice, because its second run changed calls.made, which the first one had made." in (
        " ".join(str(found).split())
    )


def test_code_that_rebinds_is_observed_and_recorded_in_its_one_run(magics: Session, seen: list[Evidence]) -> None:
    diagnosed(magics, "%jaxdoctor x = f(x)")
    (evidence,) = seen
    assert not evidence.repeated
    assert evidence.profile is not None
    assert evidence.programs is not None
    assert evidence.waits == ()
    assert evidence.host is not None
    assert evidence.host_use is not None
    assert [(each.name, each.count) for each in evidence.host_use.dispatches] == [("<lambda>", 1)]


def test_only_the_waits_of_the_code_itself_are_recorded(magics: Session, seen: list[Evidence]) -> None:
    diagnosed(magics, "%%jaxdoctor\ny = f(x)\nfloat(y[0])\ny")
    (evidence,) = seen
    assert evidence.waits is not None
    assert [(each.line.location, each.function, each.count) for each in evidence.waits if each.line] == [
        ("cell 4:3", "__float__", 1)
    ]
    assert len(evidence.waits) == 1


def test_repeat_runs_it_anyway_and_the_value_is_that_of_the_last_run(magics: Session) -> None:
    found = diagnosed(magics, "%jaxdoctor --repeat x = x + 1")
    assert float(magics.shell.user_ns["x"][0]) == 1 + len(found.runs) + 1


def test_the_evidence_of_a_clean_call(seen: list[Evidence]) -> None:
    @jax.jit
    def step(params: Any, batch: Any) -> Any:
        return params["w"] @ batch + table.sum()

    table = jnp.arange(1000.0)
    jaxmagic.diagnose(step, {"w": jnp.ones((4, 4))}, jnp.ones(4))
    (evidence,) = seen
    assert evidence.repeated
    assert evidence.typical in evidence.timed
    assert not evidence.typical.compilations
    assert [(each.path, each.type) for each in evidence.inputs if each.kind == "jax array"][:2] == [
        ("batch", "float32[4]"),
        ("params['w']", "float32[4,4]"),
    ]
    assert evidence.programs is not None
    (program,) = evidence.programs
    assert (program.function, program.arguments, program.eager) == ("step", ("params", "batch"), False)
    assert program.location is not None
    assert program.location.endswith(f"{step.__wrapped__.__code__.co_firstlineno}")
    assert [(each.type, each.size_bytes, each.names) for each in program.captured] == [
        ("float32[1000]", 4000, ("table",))
    ]
    counted = {each.primitive: each for each in program.equations or ()}
    assert counted["dot_general"].count == 1
    assert counted["dot_general"].line is not None
    assert counted["dot_general"].line.line == step.__wrapped__.__code__.co_firstlineno + 2
    assert program.module is not None
    assert program.module.name == "jit_step"
    assert evidence.host_use is not None
    assert [(each.name, each.count) for each in evidence.host_use.dispatches] == [("step", 1)]


def test_no_array_is_kept() -> None:
    x = jnp.ones(1000)
    known = weakref.ref(x)
    found = jaxmagic.diagnose(jax.jit(lambda x: x + 1), x)
    del x
    gc.collect()
    assert known() is None
    assert found.findings == ()


def test_an_error_is_raised_and_what_was_seen_is_kept() -> None:
    calls = []

    def fails_later(x: Any) -> Any:
        calls.append(1) if len(calls) < 5 else None
        raise ZeroDivisionError("late")

    with pytest.raises(ZeroDivisionError, match="late"):
        jaxmagic.diagnose(fails_later, 1)
    found = jaxmagic.last()
    assert isinstance(found, jaxmagic.Diagnosis)
    assert (found.error, found.findings, found.looked) == ("ZeroDivisionError", (), ())
    assert "No rule was applied" in str(found)


@pytest.mark.parametrize("complete", [1, 2, 3])
def test_an_error_of_a_later_run_leaves_what_the_first_has_shown(seen: list[Evidence], complete: int) -> None:
    """As of code that creates a file, which cannot be seen."""
    f, calls = jax.jit(lambda x: x + 1), iter(range(10))

    def creates(x: Any) -> Any:
        if next(calls) == complete:
            raise FileExistsError
        return f(x)

    with pytest.raises(FileExistsError):
        jaxmagic.diagnose(creates, jnp.ones(3), repeat=True)
    (evidence,) = seen
    assert evidence.repeated is (complete > 1)
    assert evidence.timed == ()
    assert [each.function for each in evidence.programs or ()] == ["<lambda>"]
    found = jaxmagic.last()
    assert isinstance(found, jaxmagic.Diagnosis)
    assert (found.error, found.looked) == ("FileExistsError", ("recompile",))
    assert "The first run completed, but a later one raised FileExistsError" in " ".join(str(found).split())
    assert "No rule was applied" not in str(found)


def test_ctrl_c_keeps_what_was_seen(seen: list[Evidence]) -> None:
    f, calls = jax.jit(lambda x: x + 1), iter(range(10))

    def interrupted(x: Any) -> Any:
        if next(calls) == 1:
            raise KeyboardInterrupt
        return f(x)

    with pytest.raises(KeyboardInterrupt):
        jaxmagic.diagnose(interrupted, jnp.ones(3), repeat=True)
    (evidence,) = seen
    assert evidence.programs is not None
    assert [each.function for each in evidence.programs] == ["<lambda>"]
    assert evidence.profile is None
    found = jaxmagic.last()
    assert isinstance(found, jaxmagic.Diagnosis)
    assert found.error == "KeyboardInterrupt"


def test_the_session_is_left_as_it_was(session_state: Callable[[], dict[str, Any]]) -> None:
    f, x = jax.jit(lambda x: x + 1), jnp.ones(3)
    jaxmagic.diagnose(f, x)
    before = session_state()
    jaxmagic.diagnose(f, x)
    assert session_state() == before


def test_a_running_profiler_is_left_alone() -> None:
    with jaxmagic.profiler(), pytest.raises(jaxmagic.NotMeasured, match="cannot be nested"):
        jaxmagic.diagnose(jax.jit(lambda x: x + 1), jnp.ones(3))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((3,), TypeError, "expected a function and its arguments, got int"),
        ((len, "x"), ValueError, r"only: expected names of rules \(recompile, .*\), got 'sleep'"),
    ],
)
def test_mistakes_are_told_before_anything_runs(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        jaxmagic.diagnose(*arguments, only=("sleep",))


def test_a_single_rule_may_be_a_string() -> None:
    assert jaxmagic.diagnose(len, "x", only="recompile").looked == ("recompile",)


@pytest.mark.parametrize("size", [0, -1, True, 1.5, "16GiB"])
def test_memory_is_a_positive_number_of_bytes(size: Any) -> None:
    with pytest.raises(ValueError, match="memory_bytes: expected an integer of at least 1"):
        jaxmagic.diagnose(len, "x", memory_bytes=size)


@pytest.mark.parametrize(("options", "code"), [(" --repeat", "y = f(x)"), ("", "x = f(x)")], ids=["repeated", "once"])
def test_a_profiler_of_the_code_s_own_is_let_start(magics: Session, tmp_path: Any, options: str, code: str) -> None:
    magics.shell.user_ns["folder"] = tmp_path
    found = diagnosed(magics, f"%%jaxdoctor{options}\nwith jax.profiler.trace(folder):\n    {code}")
    assert "The code starts JAX's profiler itself" in " ".join(str(found).split())
    assert list(tmp_path.rglob("*.xplane.pb"))
    assert not profiler_running()
    assert jaxmagic.profile(lambda: magics.shell.user_ns["f"](1.0)).runs == 1  # and ours records again


def test_a_profiler_that_the_code_leaves_running_is_left_alone(magics: Session, tmp_path: Any) -> None:
    magics.shell.user_ns["folder"] = tmp_path
    found = diagnosed(magics, "%%jaxdoctor\njax.profiler.start_trace(folder)\ny = f(x)")
    assert profiler_running()
    jax.profiler.stop_trace()
    assert len(found.runs) == 1
    assert "because it leaves JAX's profiler running" in " ".join(str(found).split())


def test_the_time_of_an_interrupted_first_run_is_not_that_of_a_run(magics: Session) -> None:
    magics.run("def stopped(x):\n    f(x)\n    raise KeyboardInterrupt")
    magics.run("%jaxdoctor -v found stopped(x)", fails=KeyboardInterrupt)
    report = " ".join(str(magics.shell.user_ns["found"]).split())
    assert report.startswith("The code was interrupted before a run ended: no rule can tell what a whole one costs.")
    assert "No rule found a problem" not in report
    assert "a run takes" not in report
    assert "No rule reports lost time" not in report


def test_another_run_is_expected_to_compile_nothing(magics: Session, seen: list[Evidence]) -> None:
    diagnosed(magics, "%%jaxdoctor\nx = jax.jit(lambda x: jnp.cos(x) * 2)(x)")
    (once,) = seen
    assert not once.repeated
    assert once.expected_ns == once.first.wall_ns - once.first.compile_ns < once.run_ns
    diagnosed(magics, "%jaxdoctor --repeat f(x)")
    assert seen[1].repeated
    assert seen[1].expected_ns == seen[1].run_ns


@pytest.mark.parametrize(
    ("inside", "outside", "words"),
    [
        (True, False, "jit was disabled in a part of the code (jax.disable_jit): "),
        (True, True, "jit was disabled (jax_disable_jit): "),
        (False, False, None),
    ],
)
def test_a_report_says_first_that_jit_was_disabled(inside: bool, outside: bool, words: str | None) -> None:
    """Everything else is then about operations that run one by one."""
    jitted = jax.jit(lambda x: jnp.tanh(x) + 1)
    x = jnp.ones(3)

    def code() -> Any:
        with jax.disable_jit(inside):
            return jitted(x)

    code()  # what has run before is known as well
    with jax.disable_jit(outside):
        found = jaxmagic.diagnose(code, only="recompile")
    lines = str(found).splitlines()
    if words is None:
        assert "jit was disabled" not in str(found)
    else:
        assert lines[0].startswith("No rule found a problem, but jit was disabled; a run takes ")
        assert lines[1].startswith(words)


def test_programs_that_the_first_run_compiled_keep_their_lines_in_the_recorded_one() -> None:
    def product(x: Any) -> Any:
        return jnp.tanh(x @ x)

    product.__name__ = product.__qualname__ = "apply"  # as of a library: neither the code nor a frame names it
    found = jaxmagic.diagnose(jax.jit(product), jnp.ones((300, 300)))
    assert found.profile is not None
    assert "return jnp.tanh(x @ x)" in str(found.profile)
    assert not [each for each in found.profile.notes if each.kind == "profiling.compiled_earlier"]
