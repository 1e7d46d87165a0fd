"""A call that reads the results of a loop after it waits once, however many arrays there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fabricate.profiling import MS

from jaxmagic.doctor.record.evidence import Evidence, HostWait
from jaxmagic.doctor.rules.host import wait
from jaxmagic.records.call_stack import Frame

IMPORTS = "import jax\nimport numpy as np\n"

Waiting = Callable[..., Evidence]


@pytest.fixture
def waiting(evidence: Callable[..., Evidence], tmp_path: Path) -> Waiting:
    """Runs of 100 ms that wait for 50 ms at the line of a source with `# read`, on the way of the lines with `# via`.

    Marked lines are followed by the name of their function.
    """

    def make(
        source: str, function: str = "device_get", code: str | None = None, library: str | None = None
    ) -> Evidence:
        file = tmp_path / "train.py"
        file.write_text(IMPORTS + source)
        marked = [
            (number, text.partition("# ")[2].split())
            for number, text in enumerate((IMPORTS + source).splitlines(), 1)
            if "# " in text
        ]
        marked.sort(key=lambda each: each[1][0])  # read, via1, via2
        stack = tuple(Frame(function=name, file=str(file), line=line) for line, (_, name) in marked)
        found = HostWait(line=stack[0], function=function, library=library, count=5, wait_ns=50 * MS, stack=stack)
        return evidence(waited_ns=10 * MS, waits=(found,), code=code)

    return make


TRAIN = """
def train(n):
    losses = []
    for _ in range(n):
        losses.append(step())
    {read}  # read train
"""


@pytest.mark.parametrize(
    ("read", "function"),
    [
        ("return jax.device_get(losses)", "device_get"),
        ("return [float(each) for each in jax.device_get(losses)]", "device_get"),
        ("for each in jax.device_get(losses): print(each)", "device_get"),
        ("return np.asarray(losses)", "__buffer__"),
        ("return np.mean(np.asarray(losses))", "__array__"),
    ],
)
@pytest.mark.parametrize("call", ["train(5)", "%jaxdoctor train(5)"])
def test_arrays_that_are_read_after_a_loop_are_one_wait(
    read: str, function: str, call: str, waiting: Waiting
) -> None:
    made = waiting(TRAIN.format(read=read) + f"{call}  # via1 <module>\n", function, code="train(5)")
    assert list(wait.look(made)) == []


@pytest.mark.parametrize(
    ("read", "function"),
    [
        ("return [jax.device_get(each) for each in losses]", "device_get"),
        ("return [each for loss in losses for each in jax.device_get(loss)]", "device_get"),
        ("for each in losses: print(jax.device_get(each))", "device_get"),
        ("return list(map(jax.device_get, losses))", "device_get"),
        ("return {n: jax.device_get(each) for n, each in enumerate(losses)}", "device_get"),
        ("return [each for each in losses if jax.device_get(each) > 0]", "device_get"),
        ("while jax.device_get(losses.pop()) > 0: print()", "device_get"),
        ("return [np.asarray(each) for each in losses]", "__buffer__"),
        ("return sum(losses, start=float(losses[0]))", "__float__"),
    ],
)
def test_arrays_that_are_read_one_by_one_are_several(read: str, function: str, waiting: Waiting) -> None:
    assert list(wait.look(waiting(TRAIN.format(read=read) + "train(5)  # via1 <module>\n", function)))


@pytest.mark.parametrize(
    "calls",
    [
        "for _ in range(5):\n    train(5)  # via1 <module>\n",
        "[train(5) for _ in range(5)]  # via1 <module>\n",
        "list(map(train, range(5)))  # via1 <module>\n",
        "minimize(train, 5)  # via1 <module>\n",
        "train(5)  # via1 <module>\ntrain(5)\ntrain(5)\n",
        "def fit():\n    train(5)  # via1 fit\nfor _ in range(5):\n    fit()  # via2 <module>\n",
    ],
)
def test_what_runs_several_times_waits_as_often(calls: str, waiting: Waiting) -> None:
    assert list(wait.look(waiting(TRAIN.format(read="return jax.device_get(losses)") + calls)))


@pytest.mark.parametrize("code", ["[train(5) for _ in range(5)]", "while True: train(5)"])
def test_a_loop_in_the_code_of_a_magic_counts(code: str, waiting: Waiting) -> None:
    made = TRAIN.format(read="return jax.device_get(losses)") + f"%jaxdoctor {code}  # via1 <module>\n"
    assert list(wait.look(waiting(made, code=code)))


def test_waits_of_a_library_are_not_read_in_the_code(waiting: Waiting) -> None:
    made = waiting(
        TRAIN.format(read="return jax.device_get(losses)") + "train(5)  # via1 <module>\n", library="optax.x"
    )
    assert list(wait.look(made))


LOSS = "def loss(x):\n    return float(f(x))  # read loss\n"


@pytest.mark.parametrize(
    ("calls", "kind"),
    [
        ("for x in xs:\n    loss(x)  # via1 <module>\n", "doctor.host_wait_remedy"),
        ("[loss(x) for x in xs]  # via1 <module>\n", "doctor.host_wait_remedy"),
        ("for x in xs:\n    print(x)\nminimize(loss, x)  # via1 <module>\n", "doctor.host_wait_later"),
    ],
)
def test_the_loop_that_calls_a_function_is_named_if_there_is_one(calls: str, kind: str, waiting: Waiting) -> None:
    (found,) = wait.look(waiting(LOSS + calls, "__float__"))
    assert found.remedy is not None
    assert found.remedy.kind == kind
    assert ("loop" in str(found.remedy)) == (kind == "doctor.host_wait_remedy")
