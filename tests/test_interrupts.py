"""Ctrl-C is held back until it does no harm."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Any

import pytest

from jaxmagic.interrupts import begins, ends, interrupted, interruptible, uninterrupted

pytestmark = pytest.mark.clock


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


class Thing:
    """Begins and ends, and notes it."""

    def __init__(self, *, at: str = "") -> None:
        self.noted: list[str] = []
        self.at = at

    @begins("stop")
    def start(self) -> None:
        self.noted.append("start")
        if self.at == "start":
            interrupt()
        if self.at == "failure":
            raise ValueError("no")
        self.noted.append("started")

    @ends
    def stop(self) -> None:
        self.noted.append("stop")
        if self.at == "stop":
            interrupt()
        self.noted.append("stopped")


@pytest.fixture(autouse=True)
def handler() -> Any:
    before = signal.getsignal(signal.SIGINT)
    yield before
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_arrives_when_the_function_has_ended() -> None:
    done = []

    @uninterrupted
    def function() -> None:
        interrupt()
        done.append(1)

    with pytest.raises(KeyboardInterrupt):
        function()
    assert done == [1]


def test_functions_nest_and_one_interrupt_is_one() -> None:
    done = []

    @uninterrupted
    def outer() -> None:
        uninterrupted(interrupt)()
        done.append(1)

    with pytest.raises(KeyboardInterrupt):
        outer()
    assert done == [1]
    uninterrupted(list)()


def test_what_was_begun_is_undone_where_the_interrupt_came_meanwhile() -> None:
    thing = Thing(at="start")
    with pytest.raises(KeyboardInterrupt):
        thing.start()
    assert thing.noted == ["start", "started", "stop", "stopped"]


def test_what_could_not_be_begun_is_undone() -> None:
    thing = Thing(at="failure")
    with pytest.raises(ValueError, match="no"):
        thing.start()
    assert thing.noted == ["start", "stop", "stopped"]


def test_what_ends_ends_whole() -> None:
    thing = Thing(at="stop")
    thing.start()
    with pytest.raises(KeyboardInterrupt):
        thing.stop()
    assert thing.noted[-2:] == ["stop", "stopped"]


def test_code_between_the_beginning_and_the_end_is_interrupted() -> None:
    thing = Thing()
    thing.start()
    with pytest.raises(KeyboardInterrupt):
        interrupt()
    thing.stop()


def test_a_long_wait_in_between_is_interrupted_by_what_came_before_it() -> None:
    done = []

    @interruptible
    def wait() -> None:
        done.append("wait")

    @uninterrupted
    def function() -> None:
        interrupt()
        try:
            wait()
        except KeyboardInterrupt:
            done.append("arrived")

    function()
    assert done == ["arrived"]


def test_an_interrupt_that_somebody_tells_of_does_not_arrive() -> None:
    @uninterrupted
    def function() -> bool:
        interrupt()
        return interrupted()

    assert function()
    assert not interrupted()


def test_the_users_own_handler_is_called_and_kept() -> None:
    heard: list[Any] = []
    before = signal.signal(signal.SIGINT, lambda *what: heard.append(what[0]))
    try:
        thing = Thing(at="start")
        thing.start()
        assert heard == [signal.SIGINT]
        interrupt()
        assert heard == [signal.SIGINT] * 2
        thing.stop()
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_handler_that_the_measured_code_puts_there_is_left_alone() -> None:
    thing, inner, heard = Thing(), Thing(), []
    thing.start()
    ours = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    theirs = signal.getsignal(signal.SIGINT)
    inner.start()
    interrupt()
    inner.stop()
    assert heard == [1]
    assert signal.getsignal(signal.SIGINT) is theirs
    signal.signal(signal.SIGINT, ours)
    thing.stop()


def test_a_handler_that_somebody_puts_back_late_calls_the_users() -> None:
    thing, before = Thing(), signal.getsignal(signal.SIGINT)
    thing.start()
    ours = signal.getsignal(signal.SIGINT)
    thing.stop()
    signal.signal(signal.SIGINT, ours)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupt()
        thing.start()
        thing.stop()
        assert signal.getsignal(signal.SIGINT) is ours
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_nobody_holds_any_more_holds_no_handler(handler: Any) -> None:
    Thing().start()
    Thing().stop()
    assert signal.getsignal(signal.SIGINT) is handler


def test_tasks_may_overlap() -> None:
    first, second = Thing(), Thing()

    async def main() -> None:
        first.start()
        second.start()
        await asyncio.sleep(0)
        first.stop()
        await asyncio.sleep(0)
        second.stop()

    asyncio.run(main())


def test_other_threads_are_never_interrupted_and_may_use_it(handler: Any) -> None:
    handlers = []

    @uninterrupted
    def function() -> None:
        handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=function)
    thread.start()
    thread.join()
    assert handlers == [handler]
