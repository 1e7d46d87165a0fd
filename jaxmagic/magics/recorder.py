"""What measures the block of a magic, made of its options."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

if TYPE_CHECKING:
    from ..memory_use.record.memory_profile import MemoryProfile
    from ..profiling.record.profile import Profile
    from ..timing.record import Timing


class Watch(Protocol):
    """What measures a block: a stopwatch, or more than that. Its methods are those of the stopwatch."""

    result: Any
    dropped: Any

    @property
    def done(self) -> bool:
        """Whether there is a record."""

    @property
    def timing(self) -> Timing:
        """How long it took."""

    @property
    def record(self) -> Timing | MemoryProfile | Profile:
        """What there is to show."""

    def start(self) -> None:
        """Begin."""

    def returned(self, value: Any = None) -> int:
        """The code has returned."""

    def stop(self, *, error: BaseException | None = None, code: str | None = None) -> object:
        """Wait, and make the record."""

    def cancel(self) -> None:
        """End without a record."""


class RepeatedWatch(Watch, Protocol):
    """What measures a block that runs several times."""

    @property
    def timings(self) -> Sequence[Timing]:
        """Of all runs that have ended."""

    def runs(self) -> Iterator[None]:
        """The code runs between one of these and the next."""


def _stopwatch(shell: InteractiveShell, arguments: argparse.Namespace, shown: bool) -> Watch:
    from ..timing.verbs import stopwatch

    return stopwatch(fetch=arguments.fetch)


def _memory_watch(shell: InteractiveShell, arguments: argparse.Namespace, shown: bool) -> Watch:
    from ..memory_use.verbs import memory_watch

    def value_name() -> str:
        kept = shown and not arguments.o and not silenced(shell)
        return f"Out[{shell.displayhook.prompt_count}]" if kept else "(the value)"  # of which more is not known here

    pprof = shell.var_expand(arguments.pprof) if isinstance(arguments.pprof, str) else arguments.pprof
    try:
        return memory_watch(
            lambda: shell.user_ns,
            value_name=value_name,
            interval_ns=arguments.interval,
            mapped=arguments.map,
            fetch=arguments.fetch,
            pprof=pprof,
        )
    except OSError as error:
        raise UsageError(f"--pprof={pprof}: {error.strerror}: {error.filename}. Nothing was run.") from None


def _profile_watch(shell: InteractiveShell, arguments: argparse.Namespace, shown: bool) -> Watch:
    from ..profiling.verbs import profile_watch

    given = (arguments.logdir, arguments.label, arguments.perfetto)
    logdir, label, perfetto = (None if each is None else shell.var_expand(each) for each in given)
    try:
        return profile_watch(
            runs=arguments.n,
            cold=arguments.cold,
            fetch=arguments.fetch,
            logdir=logdir,
            label=label,
            perfetto=perfetto,
            **({} if arguments.most is None else {"most_s": arguments.most / 1e9}),
            **({} if arguments.most_events is None else {"most_events": arguments.most_events}),
        )
    except ValueError as error:
        raise UsageError(f"--logdir, --label: {error}. Nothing was run.") from None
    except OSError as error:
        raise UsageError(f"--logdir or --perfetto: {error}. Nothing was run.") from None


#: What measures the block of each magic.
WATCHES = {"jaxtime": _stopwatch, "jaxmem": _memory_watch, "jaxprof": _profile_watch}


def silenced(shell: InteractiveShell) -> bool:
    """Whether the cell ends in a semicolon, and its value is not displayed."""
    try:
        return bool(shell.displayhook.quiet())
    except Exception:
        return False
