"""Runs one statement and takes samples of it.

A sample is a number of calls between two clock readings, each of them waited for. What is waited for is decided once,
after the first calls: the result, if all of the work ends with it; otherwise everything, by a fence after each call.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from statistics import median
from types import FunctionType
from typing import Any, TypeVar

from ...records.names import type_in_words
from ...runtime.clock import Clock, now_ns
from ...runtime.gc_pause import Collections
from ...timing.capture.fence import Fence, shared, unready
from ...timing.capture.result_arrays import find_arrays
from ...timing.capture.stopwatch import Stopwatch
from ...timing.capture.wait import search_and_wait, waiter_for
from ...timing.capture.waits import WaitLog
from ...timing.record import Timing
from ..record.inputs import Input
from ..record.samples import Serial
from .inputs import inputs_of
from .unfinished import Unfinished, forgotten

_Watched = TypeVar("_Watched")

#: The share of a call's time that it may leave work running after its result is ready, before the fence has to wait.
_LEFT_RUNNING = 0.03

#: The number of samples of an empty call, and the most calls in each.
_EMPTY_SAMPLES, _EMPTY_CALLS = 50, 100

#: The number of calls that are checked for whether they wait for their own result.
_PROBED = 3

#: The fence itself may have taken up to this long.
_LEAST_LEFT_NS = 20_000


class Runner:
    """A statement that is called repeatedly.

    Args:
        call: runs the statement and returns its value.
        each: runs before every sample, outside the timed region; makes the fresh arguments of a donating call.
        clock: the clock, in nanoseconds.
        fence: waits for all work.

    Attributes:
        evaluations: calls per sample.
        lead: calls right before each sample, outside the timed region. They keep samples apart, and replace what
            other candidates have left in the caches.
        fenced: whether the fence ends each call, because its result does not depend on all of its work.
        value: the value that the last call returned.
        collected: the number of samples in which the garbage collector ran.
        collection_ns: how long it ran in all of them together.
        serial: why calls cannot overlap; ``None`` where they can, or where this was not checked.
    """

    # With slots, attributes of all runners are equally fast. Copying an object that has a __dict__ makes attribute
    # access slower on it and on its copy: a baseline with its twin was 1 % slower than equal candidates.
    __slots__ = (
        "_call",
        "_chance",
        "_clock",
        "_each",
        "_fence",
        "_loop",
        "_wait",
        "collected",
        "collection_ns",
        "evaluations",
        "fenced",
        "lead",
        "named",
        "serial",
        "value",
    )

    def __init__(
        self,
        call: Callable[[], Any],
        *,
        each: Callable[[], None] | None = None,
        clock: Clock = now_ns,
        fence: Fence = shared,
        named: str | None = None,
    ) -> None:
        self.evaluations = 1
        self.lead = 0
        self.fenced = False
        self.named = named
        self.value: Any = None
        self.collected = 0
        self.collection_ns = 0
        self.serial: Serial | None = None
        self._call = call
        self._each = each
        self._clock = clock
        self._fence = fence
        self._wait: Callable[[Any], object] = search_and_wait
        self._chance = random.Random(0)
        # Each runner has its own loop: the specialized bytecode of a shared one would suit the function called first.
        self._loop = _own_loop()

    @property
    def repeatable(self) -> bool:
        """True if calls may follow each other without anything in between."""
        return self._each is None

    @property
    def inputs(self) -> tuple[Input, ...] | None:
        """The inputs of the statement, without their data; ``None`` if they are unknown."""
        return inputs_of(self._call)

    def first_call(self, code: str | None = None, unfinished: Unfinished = forgotten) -> Timing:
        """Time the first call, with its compilation.

        Args:
            code: the source, for the record.
            unfinished: receives the timing of a call that an interrupt or an exit ends.
        """
        self._prepare_sample()
        watch = Stopwatch(clock=self._clock, fence=self._fence)
        watch.see(self.named, {})
        watch.start()
        try:
            self.value = watch.result = self._call()
            timing = watch.stop(code=code)
        except BaseException as error:
            timing = watch.timing if watch.done else watch.stop(error=error, code=code)
            if not isinstance(error, Exception):
                unfinished(timing)
            raise
        self._wait = waiter_for(self.value)
        return timing

    def single_call(self) -> tuple[int, int]:
        """Make one call, and wait for its result and then for everything that it left running.

        Returns:
            How long all of that took, and how much of it came after the result was ready.
        """
        self._prepare_sample()
        started_ns = self._clock()
        value = self._call()
        self._wait(value)
        ready_ns = self._clock()
        waited = self._fence.settle(self._fence.wait_for_programs(ready_ns))
        self.value = value
        ended_ns = waited.until_ns if waited.found_work else ready_ns
        return ended_ns - started_ns, ended_ns - ready_ns

    def twin(self) -> Runner:
        """Return another runner of the same statement with the same setup and its own loop."""
        twin = copy(self)
        twin._loop = _own_loop()
        twin.collected = twin.collection_ns = 0
        return twin

    def sample(self) -> int:
        """Return the time of :attr:`evaluations` calls, each of them waited for."""
        self._prepare_sample()
        # One more at random, so that samples of a function that does something every second call cover both kinds.
        for _ in range(self.lead and self.lead + self._chance.randrange(2)):
            self._wait(self._call())
        return self.waited_sample(self.evaluations)

    def waited_sample(self, calls: int) -> int:
        """Return the time of `calls` calls, each of them waited for, with the current arguments."""
        sample_ns = self._fenced_sample(calls) if self.fenced else self._plain_sample(calls)
        return max(sample_ns, 1)  # a coarse clock may not have moved

    def _plain_sample(self, calls: int) -> int:
        with Collections(self._clock) as collections:
            took_ns, self.value = self._loop(self._call, self._wait, self._clock, range(calls))
        self._count_collections(collections)
        return took_ns

    def _fenced_sample(self, calls: int) -> int:
        total_ns = 0
        with Collections(self._clock) as collections:
            for _ in range(calls):
                started_ns = self._clock()
                value = self._call()
                self._wait(value)
                total_ns += self._wait_for_all() - started_ns
        self.value = value
        self._count_collections(collections)
        return total_ns

    def call_within(self, watching: AbstractContextManager[_Watched]) -> _Watched:
        """Make one call within `watching`, wait for it, and return the context's value. `each` runs before."""
        self._prepare_sample()
        with watching as watched:
            self.value = self._call()
            self._wait(self.value)
            if self.fenced:
                self._wait_for_all()
        return watched

    def pipelined_sample(self, calls: int) -> int:
        """Return the time of `calls` calls that are enqueued one after the other, with one wait at the end."""
        call = self._call
        self._fence.wait()
        started_ns = self._clock()
        for _ in range(calls):
            value = call()
        self._wait(value)
        ended_ns = self._wait_for_all()
        self.value = value
        return max(ended_ns - started_ns, 1)

    def detect_serial(self) -> bool:
        """Return whether calls return only when their work is done, so that they cannot overlap."""
        log, waited = WaitLog(), []
        log.start()
        try:
            for _ in range(_PROBED):
                before = log.entered
                self.value = self._call()
                waited.append(log.entered > before and not unready(find_arrays(self.value).arrays))
                self._wait(self.value)
        finally:
            log.stop()
        if all(waited):
            self.serial = "waits"
        elif not self.fenced and not find_arrays(self.value).arrays:
            self.serial = "nothing left"
        return self.serial is not None

    def overhead_ns(self) -> float:
        """Return the time of an empty call in the same loop, including the wait for a result that is ready."""
        value = self.value
        empty = Runner(lambda: value, clock=self._clock, fence=self._fence)
        empty._wait = self._wait
        calls = min(self.evaluations, _EMPTY_CALLS)
        return median(empty._plain_sample(calls) for _ in range(_EMPTY_SAMPLES)) / calls

    def leaves_work_behind(self, calls: list[tuple[int, int]]) -> bool:
        """Return whether `calls`, timed by :meth:`single_call`, still had work running when their result was ready.

        If the result contains arrays, most of the calls must have had some, beyond noise. Otherwise one is enough.
        """
        if not find_arrays(self.value).arrays:
            return any(rest_ns > 0 for _, rest_ns in calls)
        left = [rest_ns > max(_LEFT_RUNNING * call_ns, _LEAST_LEFT_NS) for call_ns, rest_ns in calls]
        return sum(left) > len(left) / 2

    def _wait_for_all(self) -> int:
        """Wait for all work, and return when it ended."""
        ready_ns = self._clock()
        waited = self._fence.wait_for_programs(ready_ns)
        return waited.until_ns if waited.found_work else ready_ns

    def _prepare_sample(self) -> None:
        if self._each is not None:
            self._each()
            self._fence.wait()

    def _count_collections(self, collections: Collections) -> None:
        """Count a sample in which the collector ran. Its time stays in the sample, as in the user's program."""
        if collections.spent_ns:
            self.collected += 1
            self.collection_ns += collections.spent_ns


def _own_loop() -> Callable[..., tuple[int, Any]]:
    return FunctionType(_timed_loop.__code__.replace(), globals())


def _timed_loop(
    call: Callable[[], Any], wait: Callable[[Any], object], clock: Clock, evaluations: range
) -> tuple[int, Any]:
    """Return the time of these calls, each of them waited for, and the value of the last one."""
    started_ns = clock()
    for _ in evaluations:
        value = call()
        wait(value)
    ended_ns = clock()
    return ended_ns - started_ns, value


def runner_of(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    setup: Callable[[], Iterable[Any]] | None = None,
) -> Runner:
    """Return a runner of ``fn(*args, **kwargs)``; a `setup` makes the positional arguments before every sample."""

    def call_of_the_user() -> Any:
        return fn(*args, **kwargs)

    if setup is None:
        return Runner(call_of_the_user)

    def make_fresh() -> None:
        nonlocal args
        made = setup()
        if not isinstance(made, tuple | list):  # an array would be unpacked
            raise TypeError(
                f"setup: expected the positional arguments as a tuple, got {type_in_words(made)}. "
                "Write for example lambda: (jnp.ones(3),) with the comma."
            )
        args = tuple(made)

    return Runner(call_of_the_user, each=make_fresh)
