"""The stack of a thread that goes on running while it is read."""

from __future__ import annotations

import gc
import sys
import threading

import pytest

from jaxmagic.compilation.capture.thread_stack import stack_of


def test_a_stack_is_read_from_inside_to_outside() -> None:
    def inner() -> list[str]:
        return [frame.f_code.co_name for frame in stack_of(threading.get_ident(), 3)]

    assert inner() == ["stack_of", "inner", test_a_stack_is_read_from_inside_to_outside.__name__]


@pytest.mark.clock
def test_a_thread_that_has_ended_has_no_stack() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    assert stack_of(thread.ident or 0, 100) == []


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python 3.12 collects garbage between instructions alone")
@pytest.mark.clock
def test_no_garbage_is_collected_between_two_frames() -> None:
    """A callback of the collector would let the thread run on and leave the frame that is being read."""
    deep, over = threading.Event(), threading.Event()

    def wait(depth: int) -> None:
        if depth:
            wait(depth - 1)
        else:
            deep.set()
            over.wait()

    collecting: list[int] = []
    thread = threading.Thread(target=wait, args=(50,))
    thread.start()
    deep.wait()
    before = gc.get_threshold()
    gc.set_threshold(20, 10, 10)
    gc.callbacks.append(noted := lambda *_: collecting.append(threading.get_ident()))
    try:
        del collecting[:]
        found = stack_of(thread.ident or 0, 100)
        seen = collecting.count(threading.get_ident())
    finally:
        gc.callbacks.remove(noted)
        gc.set_threshold(*before)
        over.set()
        thread.join()
    assert (len(found) > 50, seen) == (True, 0)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        stack_of(threading.get_ident(), 100)
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
