"""The garbage collector's state is restored."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from jaxmagic.runtime.gc_pause import held_back


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    with held_back():
        assert not gc.isenabled()
    assert gc.isenabled() is enabled


def test_it_is_as_it_was_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), held_back():
        raise ZeroDivisionError
    assert gc.isenabled()
