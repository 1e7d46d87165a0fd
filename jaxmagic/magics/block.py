"""The block that a magic becomes: a stopwatch with a shell around it."""

from __future__ import annotations

import argparse
import builtins
import inspect
import linecache
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import FrameType, GeneratorType, TracebackType
from typing import Any, cast

from IPython.core.getipython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from .. import units
from ..interrupts import begins, ends
from ..report.displayable import Displayable
from ..report.mimebundle import outputs
from ..report.style import DEFAULT, Style
from ..report.to_text import to_text
from ..session.record import Record
from . import options
from .attempts import attempt
from .declare import declared
from .once import shown_already
from .recorder import Recorder, RepeatedRecorder, Timed

#: First line and column of some code in its file, and last line and column; columns in bytes.
Place = tuple[int, int, int, int]


class Block:
    """Runs, measures and reports one piece of code; made by :func:`open_block` inside the user's cell.

    Attributes:
        value: what the code evaluated to, from when it has until :meth:`take`.
        reached: a value that was assigned at the end of the code.
        unpacked: the same, where it was unpacked into several targets.
        kept: values of earlier expressions, where the shell is set to display all of them.
        dropped: the value of the last expression that nobody keeps: its arrays tell when the work on them is done.
        record: after the block.
        run: the number of the run, where there are several.
    """

    def __init__(
        self,
        shell: InteractiveShell,
        name: str,
        arguments: argparse.Namespace,
        watch: Recorder,
        *,
        style: Style = DEFAULT,
        place: Place | None = None,
        code: str | None = None,
        shown: bool = False,
    ) -> None:
        self.value: Any = None
        self.reached: Any = None
        self.unpacked: Any = None
        self.kept: list[Any] = []
        self.dropped: Any = None
        self.record: Record | None = None
        self.run = 0
        self._shell = shell
        self._name = name
        self._arguments = arguments
        self._style = style
        self._place = place
        self._code = code
        self._shown = shown
        self._watch = watch

    @begins("_abandon")
    def __enter__(self) -> Block:
        frame = sys._getframe(2)  # behind what keeps interrupts away
        self._in_function = bool(frame.f_code.co_flags & inspect.CO_OPTIMIZED)
        if self._code is None and self._place is not None:
            self._code = _source(frame, self._place)
        if not self._in_function:
            setattr(builtins, self._name, self)  # found there where the code clears the user's names, as %reset does
        self._watch.start()
        return self

    def runs(self) -> Iterator[int]:
        """The code runs once for each of these; called by the code that is made of a magic that repeats it."""
        __tracebackhide__ = True
        watch = cast(RepeatedRecorder, self._watch)
        for number, _ in enumerate(watch.runs()):
            self.value = self.reached = self.unpacked = None
            self.kept.clear()
            yield number
            watch.returned(self._at_hand())
            watch.result = self._result()
            watch.dropped, self.dropped = self.dropped, None

    @ends
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        try:
            self._watch.returned(self._at_hand())  # before anything else of ours
            __tracebackhide__ = True
            if not self._in_function:
                _left.add(self)
            return self._leave(error)
        except BaseException:
            self._watch.cancel()  # an interrupt in one of our own lines
            self.take()
            raise

    @ends
    def _abandon(self) -> None:
        self._watch.cancel()
        self.take()

    def _leave(self, error: BaseException | None) -> bool:
        __tracebackhide__ = True
        self._watch.result = self._result()
        self._watch.dropped, self.dropped = self.dropped, None
        try:
            self._watch.stop(error=error, code=self._code)
        except BaseException as surfaced:
            if not self._watch.done:
                raise
            # Work that failed, or was interrupted, while it was waited for: an error of the code like any other.
            self._finish(surfaced)
            if not self._swallow(surfaced):
                raise
            return True
        self._finish(error)
        return error is not None and self._swallow(error)

    def _at_hand(self) -> Any:
        """Return what the work most likely ends in."""
        if self.value is not None:
            return self.value
        if self.reached is not None:
            return self.reached
        return self.dropped if self.unpacked is None else self.unpacked

    def _result(self) -> Any:
        if self.value is not None:
            return self.value
        # A generator that was unpacked has run; one that was assigned has not.
        return self.reached if self.unpacked is None or type(self.unpacked) is GeneratorType else self.unpacked

    def _finish(self, error: BaseException | None) -> None:
        __tracebackhide__ = True
        self.reached = self.unpacked = None
        record = self.record = self._watch.record
        if self._arguments.v and not self._in_function:  # in a function, the code that follows the block binds it
            self._shell.user_ns[self._arguments.v] = record
        if error is not None:
            self.value = None
        failure = self._failure(self._watch.timing) if error is None else None
        if failure is not None:
            self.take()
            raise AssertionError(f"{failure}.\n{to_text(record, self._style)}")
        if not self._arguments.q:
            attempt("The report", lambda: show(record, self._style, explain=self._arguments.explain))
        if self._arguments.w:
            attempt("-w", lambda: view(record))

    def _failure(self, timing: Timed) -> str | None:
        """Return what was expected and not found; the report comes with it."""
        runs: Sequence[Timed] = getattr(self._watch, "timings", (timing,))  # of several, each of them counts
        programs = [each for run in runs for each in run.compilations if each.compiled]
        heard_all = all(run.heard_all for run in runs)
        if self._arguments.expect_no_compile and (programs or not heard_all):
            compiled = units.count(len(programs), "program")
            found = f"found {compiled} compiled" if heard_all else "what compiled is not known"
            return f"expected no compilation; {found}"
        limit_ns = self._arguments.max_time
        if limit_ns is not None and timing.wall_ns > limit_ns:
            return f"expected at most {units.time(limit_ns)}, got {units.time(timing.wall_ns)}"
        return None

    def _swallow(self, error: BaseException) -> bool:
        """Tell whether ``--no-raise-error`` covers this; an interrupt and an exit always go through."""
        if not self._arguments.no_raise_error or not isinstance(error, Exception):
            self.take()
            return False
        self._shell.showtraceback((type(error), error, error.__traceback__))
        return True

    def take(self, silent: bool = False) -> Any:
        """Give the value away and forget it, and this block with it."""
        value, self.value = self.value, None
        self.kept.clear()
        if self._shell.user_ns.get(self._name) is self:
            del self._shell.user_ns[self._name]
        vars(builtins).pop(self._name, None)
        if self._arguments.o:
            value = self.record
            if self._shown and not self._arguments.q:
                shown_already(value)
        _left.discard(self)  # last: an interrupted one is taken again when the cell has run, or the next one
        return None if silent else value


#: Blocks that have ended, and whose value nobody has taken yet: nobody will, where ``break`` jumped over that.
_left: set[Block] = set()


def forget_left(*_: object) -> None:
    """Forget the blocks that no one takes the value of; called when a cell has run."""
    for block in list(_left):
        block.take()


def open_block(name: str, magic: str, text: str, place: Place, shown: bool) -> Block:
    """The block for a magic in a cell: called by the code that :mod:`~jaxmagic.magics.rewrite` makes.

    Args:
        name: the variable that holds the block in the cell.
        magic: the name of the magic.
        text: its options.
        place: where the measured code stands in the cell.
        shown: whether its value is the one that the cell displays.
    """
    shell, function = get_ipython(), declared(magic)
    parser = function.parser
    arguments = options.parse(options.split(text, parser)[0], parser)
    watch, style = function.recorder(shell, arguments, shown), current_style(shell)
    style = replace(style, rows=getattr(arguments, "top", style.rows))
    return Block(shell, name, arguments, watch, style=style, place=place, shown=shown)


def current_style(shell: InteractiveShell) -> Style:
    """The style that the user has set with ``%config JaxMagics``."""
    magics = shell.magics_manager.registry.get("JaxMagics")
    return DEFAULT if magics is None else magics.style


def show(record: Displayable, style: Style, *, explain: bool = False) -> None:
    """Display a record in the user's style: as one output, but for a static report."""
    for bundle in outputs(record, style=style, explain=explain):
        display(bundle, raw=True)


def view(record: Displayable) -> None:
    """Display the live view of a record."""
    from ..session.view_of import view_of  # costs ipywidgets

    display(view_of(record))


def _source(frame: FrameType, place: Place) -> str | None:
    """The text of the code, from the cell that IPython has stored."""
    first, start, last, end = place
    lines = [line.encode() for line in linecache.getlines(frame.f_code.co_filename, frame.f_globals)]
    if not 1 <= first <= last <= len(lines):
        return None
    lines = lines[first - 1 : last]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return b"".join(lines).decode(errors="replace").strip() or None
