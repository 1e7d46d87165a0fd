"""A ceiling for code that waits for input: the same batches again and again, and nothing of the user's changes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.capture.verify import Trial, verify
from jaxmagic.doctor.record.finding import RuleFinding, Verified
from jaxmagic.doctor.report.diagnosis import about_verified
from jaxmagic.progress.record import SILENT
from jaxmagic.records.note import note

MS = 10**6
W = jnp.ones((4, 4))


class Counting(ModuleType):
    """Counts in a module, whose attributes are no variables of the code."""

    loaded: int = 0
    seen: int = 0


@jax.jit
def step(w: Any, batch: Any) -> Any:
    return w + batch.mean()


def tried(source: str, loaders: str, budget_s: float = 20, first_ns: int = MS, **variables: Any) -> Verified:
    finding = RuleFinding(
        rule="input-bound", found=note("doctor.cache_off"), remedy=note("doctor.cache_on"), applies_to=loaders
    )
    trial = Trial(TriedCode(source, variables), [], first_ns, MS, round(budget_s * 1e9))
    (found,) = verify([finding], trial, SILENT)
    assert found.verified is not None
    return found.verified


def kinds(verified: Verified) -> list[str]:
    return [each.kind.removeprefix("doctor.") for each in verified.notes]


def runs(verified: Verified) -> tuple[int, int]:
    facts = next(each.facts for each in verified.notes if each.kind == "doctor.ceiling_runs")
    return int(facts["before_runs"]), int(facts["after_runs"])


@pytest.fixture
def counting() -> Counting:
    return Counting("counting")


@pytest.fixture
def programs(counting: Counting) -> dict[str, Any]:
    """Loaders of 5 batches, of which the last one is smaller, and code that uses them."""

    def batches(rows: int = 8) -> Iterator[Any]:
        for number in range(5):
            counting.loaded += 1
            yield np.full((rows if number < 4 else 3, 4), number, np.float32)

    class Loader:
        def __iter__(self) -> Iterator[Any]:
            return batches()

        def __len__(self) -> int:
            return 5

        def epoch(self, number: int) -> Iterator[Any]:
            return batches()

    def train(loader: Any, w: Any) -> Any:
        for number, batch in enumerate(loader):
            counting.seen += len(batch) + 1000 * number
            w = step(w, batch)
        return w

    def epochs(loader: Any, w: Any) -> Any:
        for number in range(2):
            for batch in loader.epoch(number):
                counting.seen += len(batch)
                w = step(w, batch)
        return w

    def some(w: Any) -> Any:
        for number, batch in enumerate(batches()):
            if number == 2:
                break
            w = step(w, batch)
        return w

    return {
        "batches": batches,
        "loader": Loader(),
        "Loader": Loader,
        "train": train,
        "epochs": epochs,
        "some": some,
        "step": step,
        "w": W,
    }


@pytest.mark.parametrize(
    ("source", "loaders", "per_run"),
    [
        ("train(batches(), w)", "batches()", 5),
        ("train(loader, w)", "loader", 5),
        ("train(Loader(), w)", "Loader()", 5),
        ("epochs(loader, w)", "loader.epoch()", 10),
        ("for b, c in zip(loader, batches(6)):\n    w2 = step(w, b) + c.mean()", "loader, batches()", 10),
        ("some(w)", "batches()", 3),
    ],
)
def test_batches_are_loaded_once_for_all_repeated_runs(
    programs: dict[str, Any], counting: Counting, source: str, loaders: str, per_run: int
) -> None:
    found = tried(source, loaders, **programs)
    before, after = runs(found)
    assert after > 2
    assert counting.loaded == (before + 1) * per_run  # the first of the repeated runs notes the batches
    assert found.ceiling


def test_the_code_sees_as_many_batches_of_the_same_shapes(programs: dict[str, Any], counting: Counting) -> None:
    per_run = 4 * 8 + 3 + 1000 * sum(range(5))
    found = tried("train(loader, w)", "loader", **programs)
    assert counting.seen == sum(runs(found)) * per_run


def test_it_is_a_ceiling_and_not_a_gain(programs: dict[str, Any]) -> None:
    found = tried("train(loader, w)", "loader", **programs)
    assert found.survives is None
    assert found.outputs_agree is None
    assert kinds(found) == ["ceiling_runs"]
    words = " ".join(about_verified(found))
    assert words.startswith("With the first batch of each shape again and again, ")
    assert "This is a ceiling, and no gain." in words
    assert "Tried" not in words
    assert "outputs" not in words
    too_few = replace(found, speedup=None, low=None, high=None)
    assert about_verified(too_few) == [str(each) for each in found.notes]


@pytest.mark.clock
def test_the_ceiling_is_what_code_without_loading_takes() -> None:
    def slow() -> Iterator[Any]:
        for _ in range(5):
            begin = perf_counter()
            while perf_counter() - begin < 2e-3:
                pass
            yield np.ones((8, 4), np.float32)

    def train(w: Any) -> Any:
        for batch in slow():
            w = step(w, batch)
        return w

    found = tried("train(w)", "slow()", slow=slow, train=train, w=W)
    assert found.low is not None
    assert found.low > 3
    assert found.before_ns is not None
    assert found.before_ns > 10 * MS


def test_random_generators_are_left_as_they_were(counting: Counting) -> None:
    rng, own, legacy = np.random.default_rng(0), random.Random(0), np.random.RandomState(0)

    def batches() -> Iterator[Any]:
        for _ in range(3):
            counting.loaded += 1
            random.random(), own.random(), np.random.rand(), legacy.rand()
            yield rng.normal(size=(8, 4)).astype(np.float32)

    def states() -> list[str]:
        return list(
            map(
                str,
                (
                    *(rng.bit_generator.state, own.getstate(), random.getstate()),
                    *(np.random.get_state(), legacy.get_state()),
                ),
            )
        )

    def train(w: Any) -> Any:
        for batch in batches():
            w = step(w, batch)
        return w

    before = states()
    assert tried("train(w)", "batches()", batches=batches, train=train, w=W).ceiling
    assert counting.loaded > 6
    assert states() == before


def test_containers_that_the_code_changes_are_whole_in_each_round() -> None:
    def batches() -> Iterator[Any]:
        for _ in range(3):
            yield {"x": np.ones((8, 4), np.float32)}

    def train(w: Any) -> Any:
        for batch in batches():
            w = step(w, batch.pop("x"))
        return w

    assert tried("train(w)", "batches()", batches=batches, train=train, w=W).ceiling


def test_arrays_that_the_code_changes_have_no_ceiling() -> None:
    def batches() -> Iterator[Any]:
        for _ in range(3):
            yield np.ones((8, 4), np.float32)

    def train(w: Any) -> Any:
        for batch in batches():
            batch /= 255
            w = step(w, batch)
        return w

    found = tried("train(w)", "batches()", batches=batches, train=train, w=W)
    assert kinds(found)[0] == "ceiling_failed"
    assert not found.ceiling
    assert found.survives is None


def test_a_loader_that_is_asked_for_each_item_is_replayed(counting: Counting) -> None:
    class Items:
        def __getitem__(self, number: int) -> Any:
            if number == 3:
                raise IndexError
            counting.loaded += 1
            return np.ones((8, 4), np.float32)

    found = tried("for b in items:\n    y = step(w, b)", "items", items=Items(), step=step, w=W)
    assert counting.loaded == (runs(found)[0] + 1) * 3


@pytest.mark.parametrize(
    ("source", "loaders"),
    [
        ("train(made, w)", "made"),  # a list that is there already
        ("train(half, w)", "half"),  # an iterator, which a run uses up
        ("train(whole(), w)", "whole()"),  # loading happens in the call
        ("train(loader, w)", "another"),
        ("train(loader, w)", "batches()"),  # which the code does not call itself
    ],
)
def test_what_cannot_be_replayed_is_told(programs: dict[str, Any], source: str, loaders: str) -> None:
    made = [np.ones((8, 4), np.float32)] * 3
    variables = {**programs, "made": made, "half": iter(made * 100), "whole": lambda: list(made)}
    found = tried(source, loaders, **variables)
    assert found.speedup is None
    assert kinds(found)[0] in ("not_mechanical", "not_replayed")


def test_the_budget_holds(programs: dict[str, Any], counting: Counting) -> None:
    found = tried("train(loader, w)", "loader", budget_s=1, first_ns=10**9, **programs)
    assert kinds(found) == ["not_tried_budget"]
    assert counting.loaded == 0


def test_more_shapes_than_can_be_kept_are_told(counting: Counting) -> None:
    def growing() -> Iterator[Any]:
        for number in range(40):
            yield np.ones((number + 1, 4), np.float32)

    found = tried("for b in growing():\n    n = b.sum()", "growing()", growing=growing)
    assert kinds(found)[0] == "not_replayed"
