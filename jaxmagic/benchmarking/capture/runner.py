"""One statement, and how a sample of it is taken.

A sample is some calls between two clock readings, each of them waited for. What is waited for is decided once, on the
first call: its result, if all of its work ends with that, or else everything, by a fence behind each call.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from statistics import median
from types import FunctionType
from typing import Any, TypeVar

from ...runtime.clock import Clock, now_ns
from ...runtime.gc_pause import Collections
from ...timing.capture.fence import Fence, shared, unready
from ...timing.capture.result_arrays import find_arrays
from ...timing.capture.stopwatch import Stopwatch
from ...timing.capture.wait import search_and_wait, waiter_for
from ...timing.capture.waits import WaitLog
from ...timing.record import Timing
from ..record.samples import Serial
from .unfinished import Unfinished, forgotten

_Watched = TypeVar("_Watched")

#: What a call may leave running behind its result, as a share of its time, before the fence has to wait for it.
_LEFT_RUNNING = 0.03

#: Samples of an empty call, and how many calls each of them has at most.
_EMPTY_SAMPLES, _EMPTY_CALLS = 50, 100

#: Calls that are looked at for whether they wait themselves.
_PROBED = 3

#: Less than this is what the fence itself may have cost.
_LEAST_LEFT_NS = 20_000


class Runner:
    """A statement to be called again and again.

    Args:
        call: runs the statement and returns its value.
        each: runs before every sample, outside the clock: makes the fresh arguments that a donating call uses up.
        clock: in nanoseconds.
        fence: waits for everything.

    Attributes:
        evaluations: calls in a sample.
        lead: calls right before each sample, outside the clock: they keep samples apart, and what other candidates
            have left in caches away from them.
        fenced: whether the fence ends each call, because the result does not reach all of its work.
        value: what the last call returned.
        collected: samples in which the garbage collector ran.
        collection_ns: how long it ran in them altogether.
        serial: why calls cannot overlap; ``None`` where they can, or nobody looked.
    """

    # Attributes of all runners are found in the same way: copying an object with a dictionary makes it, and its copy,
    # slower to look into, and a baseline with its twin was 1 % slower than its equals.
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
    ) -> None:
        self.evaluations = 1
        self.lead = 0
        self.fenced = False
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
        # A loop of its own: in a shared one, Python's specialised instructions suit the function that came first.
        self._loop = _own_loop()

    @property
    def repeatable(self) -> bool:
        """True if calls may follow each other without anything in between."""
        return self._each is None

    def first_call(self, code: str | None = None, unfinished: Unfinished = forgotten) -> Timing:
        """Time the first call, with its compilation.

        Args:
            code: the source, for the record.
            unfinished: gets the timing of a call that raises.
        """
        self._prepare_sample()
        watch = Stopwatch(clock=self._clock, fence=self._fence)
        watch.start()
        try:
            self.value = watch.result = self._call()
            timing = watch.stop(code=code)
        except BaseException as error:
            unfinished(watch.timing if watch.done else watch.stop(error=error, code=code))
            raise
        self._wait = waiter_for(self.value)
        return timing

    def single_call(self) -> tuple[int, int]:
        """One call, waited for, and then everything that it left running.

        Returns:
            How long it took in all, and how much of that was not for the result.
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
        """Another runner of the same statement, set up alike, with a loop of its own."""
        twin = copy(self)
        twin._loop = _own_loop()
        twin.collected = twin.collection_ns = 0
        return twin

    def sample(self) -> int:
        """The time of :attr:`evaluations` calls, each of them waited for."""
        self._prepare_sample()
        # One more or not, by chance: of a function that does something each second call, samples meet both kinds.
        for _ in range(self.lead and self.lead + self._chance.randrange(2)):
            self._wait(self._call())
        return self.waited_sample(self.evaluations)

    def waited_sample(self, calls: int) -> int:
        """The time of `calls` calls, each of them waited for, with the arguments that there are."""
        sample_ns = self._fenced_sample(calls) if self.fenced else self._plain_sample(calls)
        return max(sample_ns, 1)  # of a coarse clock

    def _plain_sample(self, calls: int) -> int:
        with Collections(self._clock) as collections:
            took_ns, self.value = self._loop(self._call, self._wait, self._clock, range(calls))
        self._note(collections)
        return took_ns

    def _fenced_sample(self, calls: int) -> int:
        total_ns = 0
        with Collections(self._clock) as collections:
            for _ in range(calls):
                started_ns = self._clock()
                value = self._call()
                self._wait(value)
                total_ns += self._end_of_all() - started_ns
        self.value = value
        self._note(collections)
        return total_ns

    def call_within(self, watching: AbstractContextManager[_Watched]) -> _Watched:
        """One call, waited for, and what was entered when its arguments had been made."""
        self._prepare_sample()
        with watching as watched:
            self.value = self._call()
            self._wait(self.value)
            if self.fenced:
                self._end_of_all()
        return watched

    def pipelined_sample(self, calls: int) -> int:
        """The time of `calls` calls that are enqueued one after the other, with one wait at the end."""
        call = self._call
        self._fence.wait()
        started_ns = self._clock()
        for _ in range(calls):
            value = call()
        self._wait(value)
        ended_ns = self._end_of_all()
        self.value = value
        return max(ended_ns - started_ns, 1)

    def look_whether_serial(self) -> bool:
        """Tell whether some calls all return when their work is done.

        Those that are pipelined would follow each other.
        """
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
        """Return what a call that does nothing takes in :meth:`sample`, with the wait for a result that is ready."""
        value = self.value
        empty = Runner(lambda: value, clock=self._clock, fence=self._fence)
        empty._wait = self._wait
        calls = min(self.evaluations, _EMPTY_CALLS)
        return median(empty._plain_sample(calls) for _ in range(_EMPTY_SAMPLES)) / calls

    def leaves_work_behind(self, calls: list[tuple[int, int]]) -> bool:
        """Tell whether `calls`, as :meth:`single_call` gives them, had work left when their result was ready.

        Most of them have to, beyond what noise is, if the result holds arrays to wait for; and only one if not.
        """
        if not find_arrays(self.value).arrays:
            return any(rest_ns > 0 for _, rest_ns in calls)
        left = [rest_ns > max(_LEFT_RUNNING * call_ns, _LEAST_LEFT_NS) for call_ns, rest_ns in calls]
        return sum(left) > len(left) / 2

    def _end_of_all(self) -> int:
        ready_ns = self._clock()
        waited = self._fence.wait_for_programs(ready_ns)
        return waited.until_ns if waited.found_work else ready_ns

    def _prepare_sample(self) -> None:
        if self._each is not None:
            self._each()
            self._fence.wait()

    def _note(self, collections: Collections) -> None:
        """Count a sample in which the collector ran; collections are left in, as they are in the user's program."""
        if collections.spent_ns:
            self.collected += 1
            self.collection_ns += collections.spent_ns


def _own_loop() -> Callable[..., tuple[int, Any]]:
    return FunctionType(_timed_loop.__code__.replace(), globals())


def _timed_loop(
    call: Callable[[], Any], wait: Callable[[Any], object], clock: Clock, evaluations: range
) -> tuple[int, Any]:
    """Tell how long as many calls take, each of them waited for, and what the last one returned."""
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
    """The runner that calls ``fn(*args, **kwargs)``, with the arguments that `setup` makes in place of `args`."""
    if setup is None:
        return Runner(lambda: fn(*args, **kwargs))
    fresh: tuple[Any, ...] = ()

    def each() -> None:
        nonlocal fresh
        found = setup()
        if not isinstance(found, tuple | list):  # an array would be taken apart
            raise TypeError(
                f"setup: expected the positional arguments as a tuple, got {type(found).__name__}. "
                "Write for example lambda: (jnp.ones(3),) with the comma."
            )
        fresh = tuple(found)

    return Runner(lambda: fn(*fresh, **kwargs), each=each)
