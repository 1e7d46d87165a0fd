"""Defining a function once helps only if the values that it holds are the same."""

from __future__ import annotations

import pytest

from jaxmagic.compilation.analysis.held import changes, new_function
from jaxmagic.compilation.record.events import CUT, Held, HeldKind

F32, F16 = 32, 16
ONCE = "define and jit the function once"


def held(kind: HeldKind, words: str, token: int | None, form: int | None = None) -> Held:
    return Held(kind, words, token, form)


W1, W2 = held("array", "f32[8]", 1, F32), held("array", "f32[8]", 2, F32)
ONE, TWO, HALF = held("number", "1", 1, 0), held("number", "2", 2, 0), held("number", "0.5", 3, 1)
NEW = held("value", "'c'", 7)

#: Where a library keeps what it compiles anew.
PRIVATE = "run.sampler._post.args[0].args[0]"
DEEP = {f"{PRIVATE}['{name}']._inv": held("unknown", "a ReferenceType", None) for name in ("mu", "tau")}


def test_what_is_inside_of_a_value_that_differs_is_told_with_it() -> None:
    now = {"d": held("object", "a dict of 2", 1), "d['a']": ONE, "d2": TWO}
    before = {"d": held("object", "a dict of 1", 2), "d['b']": TWO, "d2": ONE}
    assert [each.path for each in changes(now, before)] == ["d", "d2"]


def test_a_value_without_a_token_is_never_the_same() -> None:
    unknown = held("unknown", "a Generator", None)
    assert [each.path for each in changes({"rng": unknown}, {"rng": unknown})] == ["rng"]


def test_values_that_were_not_read_are_no_difference_to_name() -> None:
    cut = {CUT: held("unknown", CUT, None)}
    reason = new_function(DEEP | cut, DEEP | cut).reason
    assert reason.endswith("with a different run.sampler: deep inside, a ReferenceType, which cannot be compared")


@pytest.mark.parametrize(
    ("now", "before", "reason", "remedy"),
    [
        ({"w": W1}, {"w": W1}, "before, as a different function object", f"{ONCE}, outside the loop"),
        ({"w": W2}, {"w": W1}, "with a different array w: f32[8]", f"{ONCE}, and pass w as an argument"),
        ({"w": held("array", "f16[8]", 3, F16)}, {"w": W1}, "with a different w: f16[8] now, f32[8] before", None),
        ({"k": TWO}, {"k": ONE}, "with a different k: 2 now, 1 before", f"{ONCE}, and pass k as an argument, if"),
        ({"k": HALF}, {"k": ONE}, "a different k: 0.5 now, 1 before", f"{ONCE}, and pass k as an array of one dtype"),
        ({"k": TWO, "w": W2}, {"k": ONE, "w": W1}, "1 before; also different: w",
         f"{ONCE}, and pass k, w as arguments"),
        ({"m": held("value", "'a'", 1)}, {"m": held("value", "'b'", 2)},
         "with a different m: 'a' now, 'b' before", None),
        ({"f": held("function", "g (a.py:1)", 1)}, {"f": held("function", "g (a.py:1)", 2)},
         "with a different function f: g (a.py:1)", None),
        ({"k": TWO, "m": held("value", "'a'", 1)}, {"k": ONE, "m": held("value", "'b'", 2)},
         "also different: m", None),
        ({"r": held("unknown", "a Generator", None)}, {"r": held("unknown", "a Generator", None)},
         "with a different r: a Generator, which cannot be compared", None),
        (DEEP | {"run.kind": TWO}, DEEP | {"run.kind": ONE}, "with a different run.kind: 2 now, 1 before", None),
        (DEEP, DEEP, "with a different run.sampler: deep inside, a ReferenceType, which cannot be compared", None),
        ({"run.n": NEW, f"{PRIVATE}._w": W2}, {f"{PRIVATE}._w": W1},
         "with a different run.n: 'c' now; also different: run.sampler", None),
        ({f"{PRIVATE}._w": W2}, {f"{PRIVATE}._w": W1}, "with a different run.sampler: deep inside, f32[8]", None),
        ({"self._layers[0]._w": W2}, {"self._layers[0]._w": W1},
         "with a different array self._layers[0]._w: f32[8]", ONCE),
        ({"k": TWO}, {}, "with a different k: 2 now", None),
        ({CUT: held("unknown", CUT, None)}, {CUT: held("unknown", CUT, None)}, "more values than were compared",
         f"{ONCE}, if they are the same"),
    ],
)  # fmt: skip
def test_a_remedy_is_given_only_where_one_program_takes_both(
    now: dict[str, Held], before: dict[str, Held], reason: str, remedy: str | None
) -> None:
    cause = new_function(now, before)
    assert cause.kind == "new function"
    assert reason in cause.reason
    assert (cause.remedy is None) == (remedy is None)
    assert remedy is None or (cause.remedy or "").startswith(remedy)
