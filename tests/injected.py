"""Ctrl-C at any instruction, and what a session looks like before and after it.

The signal is made pending at one instruction, and Python lets it arrive where it would have done so by itself: when
it next looks for signals. So only what can happen is tried, and nothing depends on a clock.
"""

from __future__ import annotations

import _thread
import builtins
import dis
import gc
import logging
import os
import random
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import jax
from IPython.core.getipython import get_ipython

import jaxmagic
from jaxmagic import interrupts
from jaxmagic.compilation.capture import listeners
from jaxmagic.profiling.capture import profiler_session as profiler
from jaxmagic.progress import bar as progress
from jaxmagic.runtime.private_api import CACHE_LOGGERS, MISS_LOGGERS, _explaining_place
from jaxmagic.timing.capture import waits
from jaxmagic.timing.capture.wait_points import wait_points

#: Whether every line is tried, as `make interrupts` does.
ALL = bool(os.environ.get("JAXMAGIC_ALL_INTERRUPTS"))

#: For CI, and on further versions, a sixth of the lines is enough: suites interrupt at each.
_PART = 6 if os.environ.get("JAXMAGIC_FEW_CASES") else 1

_HOME = str(Path(jaxmagic.__file__).parent)

#: Instructions at which CPython looks for signals. One that comes before arrives at the next of them.
_LOOKS = ("RESUME", "CALL", "PRECALL", "JUMP_BACKWARD", "SEND", "YIELD_VALUE", "POP_JUMP_BACKWARD", "FOR_ITER")


class Spot(NamedTuple):
    """An instruction that a program has come to.

    Attributes:
        code: of the function.
        offset: of the instruction in it.
        within: the function that begins or ends something, for which this runs; empty where there is none.
    """

    code: CodeType
    offset: int
    within: str

    def __str__(self) -> str:
        line = next(
            (each.positions.lineno for each in dis.get_instructions(self.code) if each.offset == self.offset), 0
        )
        name = Path(self.code.co_filename).relative_to(_HOME)
        return f"{name}:{line}:{self.offset} {operations(self.code)[self.offset]} in {self.within or 'no end'}"


class _Trip:
    """``-_Trip()`` makes the signal pending; behind a call Python would look for it at once."""

    __neg__ = staticmethod(partial(_thread.interrupt_main, signal.SIGINT))


@cache
def operations(code: CodeType) -> dict[int, str]:
    """The name of each instruction, by its offset."""
    return {each.offset: each.opname for each in dis.get_instructions(code)}


def _within(frame: FrameType | None) -> str:
    """The innermost function that begins or ends something and has not been left."""
    while frame is not None:
        if frame.f_code in interrupts._closed:
            names = frame.f_locals
            return str(getattr(names.get("function") or names.get("method"), "__qualname__", "?"))
        if frame.f_code in interrupts._open:
            return ""
        frame = frame.f_back
    return ""


def spots(program: Callable[[], object], *, lines: bool = False) -> list[Spot]:
    """The instructions of `jaxmagic` that `program` comes to in this thread, each once, in order.

    Args:
        program: runs twice before, so that nothing is imported or compiled any more.
        lines: only the first instruction of each line; and otherwise only those where Python looks for signals.
    """
    found: dict[Spot, None] = {}

    def within(frame: FrameType, event: str, _: Any) -> Any:
        if event == ("line" if lines else "opcode"):
            name = _within(frame)
            if lines or operations(frame.f_code)[frame.f_lasti].startswith(_LOOKS):
                found[Spot(frame.f_code, frame.f_lasti, name)] = None
        return within

    program()
    program()
    _traced(program, within, lines=lines)
    return list(found)


def _traced(program: Callable[[], object], within: Any, *, lines: bool) -> None:
    def entered(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_HOME):
            return None
        frame.f_trace_opcodes = not lines
        return within(frame, "line" if lines else "opcode", _)  # where it begins Python looks for signals, too

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        program()
    finally:
        sys.settrace(before)


def interrupt_at(spot: Spot, program: Callable[[], object], *, lines: bool = False, again: int = 0) -> bool:
    """Run `program`, with Ctrl-C at a spot, and another one so many events later; whether it arrived."""
    left = -1

    def within(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if event == ("line" if lines else "opcode"):
            if left > 0:
                left -= 1
                if not left:
                    sys.settrace(None)
                    -_Trip()  # type: ignore[operator]
            elif (
                left < 0
                and frame.f_code is spot.code
                and frame.f_lasti == spot.offset
                and _within(frame) == spot.within
            ):
                left = again
                if not again:
                    sys.settrace(None)  # or it would arrive in the next call of this function
                -_Trip()  # type: ignore[operator]
        return within

    arrived = False
    swallowed: list[object] = []  # Python does so where it calls something for an object that dies
    hook, sys.unraisablehook = sys.unraisablehook, swallowed.append
    try:
        for each in (partial(_traced, program, within, lines=lines), _look, _look):
            try:
                each()
            except KeyboardInterrupt:
                arrived = True
    finally:
        sys.unraisablehook = hook
    return arrived or bool(swallowed) or left < 0


def _look() -> None:
    """Python looks for signals when a function begins."""


def chosen(found: list[Spot], most: int, seed: int) -> list[Spot]:
    """So many of them, in order; all where there are no more, or where the environment asks for all."""
    most = -(-most // _PART)
    if ALL or len(found) <= most:
        return found
    return [found[index] for index in sorted(random.Random(seed).sample(range(len(found)), most))]


def session() -> dict[str, Any]:
    """All that a measurement may have changed."""
    from jax._src import monitoring
    from jax._src.interpreters import pxla

    waits.restore()
    shell = get_ipython()
    loggers = [logging.getLogger(name) for name in (*CACHE_LOGGERS, *MISS_LOGGERS, "")]
    return {
        "listeners": [
            list(found)
            for name, found in sorted(vars(monitoring).items())
            if name.endswith("_listeners") and isinstance(found, list)
        ],
        "logs": [(each.level, list(each.filters), list(each.handlers)) for each in loggers],
        "flags": {name: getattr(jax.config, name, None) for name in sorted(jax.config.values)},
        "the thread's flags": (
            jax.config.jax_explain_cache_misses,
            jax.config.jax_disable_jit,
            jax.config.jax_persistent_cache_min_compile_time_secs,
        ),
        "explaining": getattr(*(_explaining_place() or ("", "__doc__"))),
        "profiler": profiler_session(),
        "our profilers": set(profiler._recording),
        "our logs": (
            list(listeners.shared._logs),
            set(listeners.shared.muted),
            dict(waits._hooks._heard),
        ),
        "programs": pxla.ExecuteReplicated.__call__,
        "waits": [vars(each.owner).get(each.name) for each in wait_points()],
        "collector": (gc.isenabled(), list(gc.callbacks)),
        "threads": sorted(each.name for each in threading.enumerate() if each.name.startswith("jaxmagic")),
        "handler": signal.getsignal(signal.SIGINT),
        "guard": (list(interrupts._guard._handlers), interrupts._guard.noted),
        "progress": getattr(progress._open, "display", None),
        "files": sorted(each.name for each in Path(tempfile.gettempdir()).glob("jaxmagic-*")),
        "umask": _umask(),
        "builtins": sorted(vars(builtins)),
        "shell": None if shell is None else _of(shell),
    }


def profiler_session() -> Any:
    """The recording that JAX's profiler makes now; ``None`` where it makes none."""
    from jax._src.profiler import _profile_state

    name = "session" if hasattr(_profile_state, "session") else "profile_session"  # from 0.12 on, and before
    return getattr(_profile_state, name)


def _umask() -> int:
    found = os.umask(0o22)
    os.umask(found)
    return found


def _of(shell: Any) -> Any:
    """The hooks of a shell, without addresses: the extension may have been loaded anew."""
    hooks = (
        list(shell.input_transformers_cleanup),
        list(shell.input_transformers_post),
        list(shell.ast_transformers),
        {name: list(found) for name, found in shell.events.callbacks.items()},
        sorted(name for name in shell.user_ns if name.startswith("__jaxmagic")),
        sorted(shell.magics_manager.registry),
        vars(shell.displayhook).get("compute_format_data"),
    )
    return re.sub(r" at 0x\w+", "", repr(hooks))


def differences(before: dict[str, Any]) -> Iterator[str]:
    """What is not as it was."""
    after = session()
    for name, found in before.items():
        if after[name] != found:
            yield f"{name}: expected {found!r}, got {after[name]!r}"
