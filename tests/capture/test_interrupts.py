"""Ctrl-C that waits for a moment."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

from jaxmagic.capture.interrupts import uninterrupted

pytestmark = pytest.mark.clock


def test_an_interrupt_arrives_when_the_block_has_ended() -> None:
    done = []
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        signal.raise_signal(signal.SIGINT)
        done.append(1)
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is before


def test_blocks_nest_and_one_interrupt_is_one() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
        done.append(1)
    assert done == [1]
    with uninterrupted():
        pass


def test_the_users_own_handler_is_called_and_kept(monkeypatch: Any) -> None:
    heard: list[Any] = []
    before = signal.signal(signal.SIGINT, lambda *what: heard.append(what[0]))
    try:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            assert heard == []
        assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_are_never_interrupted_and_may_use_it() -> None:
    handlers = []

    def block() -> None:
        with uninterrupted():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=block)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGINT)]
