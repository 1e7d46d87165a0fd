"""A computation that failed is told if its result is newer than the block, and if it is alive."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import pytest

from jaxmagic.timing.capture.failed_work import failed_since, newest


class Result:
    """An array as far as it is asked here."""

    def __init__(self, error: Exception | None = None, *, deleted: bool = False) -> None:
        self._error = error
        self._deleted = deleted

    def is_deleted(self) -> bool:
        return self._deleted

    def block_until_ready(self) -> None:
        assert not self._deleted
        if self._error is not None:
            raise self._error


FAILED = Result(RuntimeError("RESOURCE_EXHAUSTED: Out of memory.\nMore of it."))
OLD, NEW = Result(), Result()


@pytest.mark.parametrize(
    ("arrays", "found"),
    [
        ([OLD], False),
        ([NEW, OLD], False),
        ([FAILED, OLD], True),
        ([NEW, FAILED, OLD], True),
        ([OLD, FAILED], False),  # it failed before
        ([NEW, OLD, FAILED], False),
        ([Result(deleted=True), NEW, OLD], False),
        ([Result(deleted=True), FAILED, OLD], True),
    ],
)
def test_only_newer_results_are_asked(arrays: list[Any], found: bool) -> None:
    expected = "RuntimeError: RESOURCE_EXHAUSTED: Out of memory." if found else None
    assert failed_since(newest([OLD]), arrays) == expected


def test_all_results_are_newer_where_there_were_none() -> None:
    assert failed_since(newest([]), [FAILED]) is not None
    assert failed_since(newest([]), []) is None


def test_nothing_is_told_if_it_is_unknown_what_is_newer() -> None:
    gone = newest([Result()])
    assert [each() for each in gone] == [None]
    assert failed_since(gone, [FAILED]) is None


def test_a_second_array_tells_what_is_newer_if_the_newest_is_gone() -> None:
    before = newest([Result(), OLD])
    assert failed_since(before, [NEW, OLD, FAILED]) is None
    assert failed_since(before, [FAILED, OLD]) is not None


def test_arrays_of_jax_are_known_again_and_not_kept() -> None:
    old, new = jnp.ones(3), jnp.ones(4)
    before = newest([old])
    assert failed_since(before, [new, old]) is None
    del old
    assert before[0]() is None
