"""A loop that copies the items of arrays that are there before it is found, if it copies nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabricate.profiling import MS

from jaxmagic.doctor.record.evidence import Dispatch, Evidence, HostShare, HostUse, Input
from jaxmagic.doctor.record.placement import DevicePut
from jaxmagic.doctor.rules.host import transfer
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.note import note

ONCE = """\
def run(w, xs, ys):
    for x in xs:
        w = f(w, {})
    return w
"""
EPOCHS = ONCE.replace("    for x in xs:\n        w", "    for _ in range(4):\n        for x in xs:\n            w")
INDEXED = ONCE.replace("x in xs", "i in range(len(xs))")
BOTH = ONCE.replace("x in xs", "x, y in zip(xs, ys)")
NAMED = ONCE.replace("w = f(w, {})", "x = {}\n        w = f(w, x)")
MARKED = ONCE.replace("w = f(w, {})", "with marked(f(w, {})):\n            pass")
COMPREHENDED = "def run(w, xs, ys):\n    return [f(w, {}) for x in xs]\n"
ARRAY = (Input(path="xs", kind="numpy array", type="float32[20,262144]", size_bytes=20 * 2**20),)
PAIR = tuple(replace(ARRAY[0], path=each, type="float32[10,262144]") for each in ("xs", "ys"))
LIST = (
    Input(path="xs", kind="other", type="list", size_bytes=0),
    *(Input(path=f"xs[{n}]", kind="numpy array", type="float64[131072]", size_bytes=2**20) for n in range(5)),
)
BEFORE = "  # once, before this code\n"


def found_in(converting: Callable[..., Evidence], converted: str, source: str, **changes: Any) -> list[Any]:
    made = converting(converted, **{"source": source, "code": "run(w, xs, ys)", "inputs": ARRAY, **changes})
    return list(transfer.look(made))


@pytest.mark.parametrize(
    ("source", "converted", "code"),
    [
        (ONCE, "jnp.asarray(x)", f"xs = [jnp.asarray(each) for each in xs]{BEFORE}w = f(w, x)  # in the loop"),
        (
            ONCE,
            "jnp.array(x, jnp.float32)",
            f"xs = [jnp.array(each, jnp.float32) for each in xs]{BEFORE}w = f(w, x)  # in the loop",
        ),
        (
            INDEXED,
            "jnp.asarray(xs[i])",
            f"xs = [jnp.asarray(each) for each in xs]{BEFORE}w = f(w, xs[i])  # in the loop",
        ),
        (
            COMPREHENDED,
            "jnp.asarray(x)",
            f"xs = [jnp.asarray(each) for each in xs]{BEFORE}return [f(w, x) for x in xs]  # in the loop",
        ),
        (NAMED, "jnp.array(x)", f"xs = [jnp.array(each) for each in xs]{BEFORE}# Then remove line 3 of run."),
        (MARKED, "jnp.asarray(x)", "xs = [jnp.asarray(each) for each in xs]  # once, before this code"),
        (MARKED, "jnp.array(x)", None),
        (ONCE.replace("return w", "return w / xs.mean()"), "jnp.asarray(x)", None),
    ],
)
def test_items_that_are_converted_once_per_run(
    converting: Callable[..., Evidence], source: str, converted: str, code: str | None
) -> None:
    (found,) = found_in(converting, converted, source)
    assert found.found.facts == {"names": "xs[*]", "count": 20, "size_bytes": 20 * 2**20}
    assert found.cost_ns == pytest.approx(50 * MS)
    assert found.code == code
    arrays = "" if code is None else "xs"
    assert found.remedy == note("doctor.transfer_before", names="xs", size_bytes=20 * 2**20, arrays=arrays)
    assert ("xs becomes a list of its rows." in str(found.remedy)) == (code is not None)


def test_several_items_in_each_round(converting: Callable[..., Evidence]) -> None:
    (found,) = found_in(converting, "jnp.asarray(x), jnp.asarray(y)", BOTH, inputs=PAIR, programs=2)
    assert found.found.facts["names"] == "xs[*], ys[*]"
    assert found.code == (
        f"xs = [jnp.asarray(each) for each in xs]{BEFORE}ys = [jnp.asarray(each) for each in ys]{BEFORE}"
        "w = f(w, x, y)  # in the loop"
    )


@pytest.mark.parametrize(
    ("converted", "code"),
    [
        ("jnp.asarray(x), jnp.asarray(y)", f"xs = jax.device_put(xs){BEFORE}w = f(w, x, y)  # in the loop"),
        ("jnp.asarray(x, t), jnp.asarray(y, t)", None),
    ],
)
def test_items_that_are_pairs_are_copied_as_they_are(
    converting: Callable[..., Evidence], converted: str, code: str | None
) -> None:
    one = replace(ARRAY[0], type="float32[262144]", size_bytes=2**20)
    pairs = (replace(one, path=f"xs[{n}][{k}]") for n in range(10) for k in (0, 1))
    (found,) = found_in(converting, converted, BOTH.replace("zip(xs, ys)", "xs"), inputs=(LIST[0], *pairs))
    assert found.code == code


def test_arrays_of_a_list_in_several_epochs(converting: Callable[..., Evidence]) -> None:
    (found,) = found_in(converting, "jnp.asarray(x)", EPOCHS, inputs=LIST)
    assert found.found.facts == {"names": "xs[*]", "count": 20, "size_bytes": 20 * 2**20}
    assert found.cost_ns == pytest.approx(50 * MS * 15 / 20)  # the first round is needed
    assert found.remedy.facts == {"names": "xs", "size_bytes": 5 * 2**20, "arrays": ""}
    assert found.code == "xs = [jnp.asarray(each) for each in xs]  # before the loops\nw = f(w, x)  # in the loop"


@pytest.mark.parametrize(
    ("source", "converted", "changes"),
    [
        (ONCE, "jnp.asarray(x)", {"count": 19}),  # not all of them
        (ONCE, "jnp.asarray(x)", {"limit_bytes": 39 * 2**20}),  # too much for the device
        (ONCE, "jnp.asarray(x)", {"inputs": ()}),
        (ONCE, "jnp.asarray(x), jnp.asarray(z)", {}),
        (ONCE, "jnp.asarray(x[:8])", {}),
        (
            INDEXED,
            "jnp.asarray(xs[i : i + 9])",
            {"inputs": (replace(ARRAY[0], type="float32[20,1024]", size_bytes=20 * 4096),)},
        ),
        (ONCE.replace("        w", "        x = x + 1\n        w"), "jnp.asarray(x)", {}),
        (ONCE.replace("        w", "        x -= 1\n        w"), "jnp.asarray(x)", {}),
        (ONCE.replace("        w", "        rng.shuffle(x)\n        w"), "jnp.asarray(x)", {}),
        (ONCE.replace("    for", "    xs = load()\n    for"), "jnp.asarray(x)", {}),
        (
            EPOCHS.replace("            w", "            rng.shuffle(x)\n            w"),
            "jnp.asarray(x)",
            {"inputs": LIST},
        ),
    ],
)
def test_other_items_are_no_finding(
    converting: Callable[..., Evidence], source: str, converted: str, changes: dict[str, Any]
) -> None:
    assert found_in(converting, converted, source, **changes) == []


def test_items_that_are_donated_are_copied_in_each_run(converting: Callable[..., Evidence]) -> None:
    made = converting("jnp.asarray(x)", source=ONCE, code="run(w, xs, ys)", inputs=ARRAY)
    donating = replace(made.programs[0], function="f", eager=False, donated=(0,))
    assert list(transfer.look(replace(made, programs=(*made.programs, donating)))) == []


@pytest.fixture
def put(evidence: Callable[..., Evidence], tmp_path: Path) -> Callable[..., Evidence]:
    """Runs of 100 ms, in which the host is in ``jax.device_put`` for 30 ms, and hands arrays over for 20 ms."""

    def make(given: str = "x", samples: int = 30, **changes: Any) -> Evidence:
        file = tmp_path / "run.py"
        file.write_text(ONCE.format(f"jax.device_put({given})"))
        line = Frame(function="run", file=str(file), line=3)
        one = DevicePut(
            line=line, count=1, moved_bytes=2**20, type="float32[262144]", on_host=True, same_values=False
        )
        busy = Dispatch(name="f", count=20, host_ns=0, exposed_ns=0, busy_ns=20 * MS)
        shares = (HostShare(line=line, called="jax._src.api.device_put", samples=samples),)
        return evidence(
            code="run(w, xs, ys)",
            host_use=HostUse(dispatches=(busy,), idle_ns=80 * MS, waited_ns=0, waits=0, put_ns=20 * MS, puts=20),
            inputs=ARRAY,
            device_puts=(replace(one, **changes),) * 20,
            host=(*shares, HostShare(line=None, called="", samples=100 - samples)),
        )

    return make


@pytest.mark.parametrize(("samples", "cost_ns"), [(25, 25 * MS), (15, 20 * MS), (9, 20 * MS)])
def test_copies_take_as_long_as_handing_over_and_samples_show(
    put: Callable[..., Evidence], samples: int, cost_ns: int
) -> None:
    (found,) = transfer.look(put(samples=samples))
    assert found.found.facts == {"names": "xs[*]", "count": 20, "size_bytes": 20 * 2**20}
    assert found.cost_ns == pytest.approx(cost_ns)
    assert found.code == f"xs = [jax.device_put(each) for each in xs]{BEFORE}w = f(w, x)  # in the loop"


@pytest.mark.parametrize(
    "changes", [{"given": "x[:8]"}, {"type": "float32[8]"}, {"on_host": False}, {"given": "load(x)"}]
)
def test_other_copies_are_no_finding(put: Callable[..., Evidence], changes: dict[str, Any]) -> None:
    assert list(transfer.look(put(**changes))) == []
