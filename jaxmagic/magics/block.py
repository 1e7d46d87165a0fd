"""The ``with`` block that a magic becomes: a stopwatch, and what the shell needs around it."""

from __future__ import annotations

import argparse
import builtins
import linecache
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from types import FrameType, GeneratorType, TracebackType
from typing import Any, cast

from IPython.core.getipython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from .. import units
from ..interrupts import begins, ends
from ..report.compose import Composed
from ..report.displayable import Displayable
from ..report.mimebundle import outputs
from ..report.style import DEFAULT, Style
from ..report.to_text import to_text
from ..runtime.around import is_of_function
from ..runtime.functions import dropping
from ..session.record import Record
from ..terminal import written_to
from ..tracebacks import drop_handler
from . import options
from .attempts import attempt
from .declare import KeepingLastShown, declared
from .once import shown_already
from .recorder import Recorder, RepeatedRecorder, Timed

#: First line and column of some code in its file, then last line and column; columns count bytes.
Place = tuple[int, int, int, int]


#: Errors that say that a name does not exist. The code has to be corrected, and its times tell nothing.
_MISTYPED = (NameError, AttributeError, ImportError)


class Unmet(AssertionError):
    """An expectation of ``--max-time`` or ``--expect-no-compile`` that the code did not meet.

    The code around the block raises the error of :func:`unmet` in its place: in the user's cell, without our frames.
    """


def unmet() -> AssertionError:
    """Return the error for the user, in place of the :class:`Unmet` that is being handled."""
    caught = sys.exc_info()[1]
    assert isinstance(caught, Unmet)
    caught.__traceback__ = None  # which would keep the block alive
    return AssertionError(*caught.args)


class Block:
    """Measure and report one piece of code; made by :func:`open_block` inside the user's cell.

    Attributes:
        value: the value of the code, from its end until :meth:`take`.
        reached: the value that the last statement assigned.
        unpacked: the value that the last statement assigned, if it was unpacked into several targets.
        kept: the values of earlier expressions, if the shell displays all of them.
        dropped: the last discarded value of an expression, whose arrays show when the work on them is done.
        record: the record, after the block.
        run: the number of the run, if there are several.
    """

    def __init__(
        self,
        shell: InteractiveShell,
        name: str,
        arguments: argparse.Namespace,
        watch: Recorder,
        parser: argparse.ArgumentParser,
        *,
        style: Style,
        place: Place,
        shown: bool,
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
        self._parser = parser
        self._style = style
        self._place = place
        self._shown = shown
        self._watch = watch

    @begins("_abandon")
    def __enter__(self) -> Block:
        frame = sys._getframe(2)  # above the frame of the decorator that holds interrupts back
        self._in_function = is_of_function(frame)
        self._code = _source(frame, self._place)
        if not self._in_function:
            # So that it is found even if the code clears the user's names (%reset).
            setattr(builtins, self._name, self)
        see = getattr(self._watch, "see", None)
        if see is not None:
            see(self._code, {**frame.f_globals, **frame.f_locals} if self._in_function else frame.f_globals)
        self._watch.start()
        return self

    def runs(self) -> Iterator[int]:
        """Yield the number of each run; called by the loop that a repeating magic is rewritten to."""
        __tracebackhide__ = True
        watch = cast(RepeatedRecorder, self._watch)
        for number, _ in enumerate(watch.runs()):
            with dropping(self.value):
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
            self._watch.returned(self._at_hand())  # before any other code of jaxmagic's
            __tracebackhide__ = True
            if not self._in_function:
                _left.add(self)
            if isinstance(error, KeyboardInterrupt):
                drop_handler(error)
            return self._leave(error)
        except BaseException:
            self._watch.cancel()  # an interrupt in jaxmagic's own code
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
            # Work that failed or was interrupted during the wait counts as an error of the code.
            self._finish(surfaced)
            if not self._swallow(surfaced):
                raise
            return True
        self._finish(error)
        return error is not None and self._swallow(error)

    def _at_hand(self) -> Any:
        """Return the value that the work most likely ends in."""
        if self.value is not None:
            return self.value
        if self.reached is not None:
            return self.reached
        return self.dropped if self.unpacked is None else self.unpacked

    def _result(self) -> Any:
        if self.value is not None:
            return self.value
        # A generator that was unpacked has run; a generator that was only assigned has not.
        return self.reached if self.unpacked is None or type(self.unpacked) is GeneratorType else self.unpacked

    def _finish(self, error: BaseException | None) -> None:
        __tracebackhide__ = True
        self.reached = self.unpacked = None
        record = self.record = self._watch.record
        options.note_late_flags(error, self._code, self._parser)
        if self._arguments.v and not self._in_function:  # in a function, the code that follows the block binds it
            self._shell.user_ns[self._arguments.v] = record
        if error is not None:
            self.value = None
        failure = self._failure(self._watch.timing) if error is None else None
        if failure is not None:
            self.take()
            text = to_text(record, replace(self._style, whole=True), stream=sys.stdout)
            raise Unmet(written_to(f"{failure}.\n{text}", sys.stdout))
        if not isinstance(error, _MISTYPED):
            report(record, self._style, self._arguments, explain=self._arguments.explain)

    def _failure(self, timing: Timed) -> str | None:
        """Return which expectation failed, if any; it is raised together with the report."""
        runs: Sequence[Timed] = getattr(self._watch, "timings", (timing,))
        programs = [each for run in runs for each in run.compilations if each.compiled]
        heard_all = all(run.heard_all for run in runs)
        if self._arguments.expect_no_compile and not heard_all:
            return "expected no compilation, but some compilations may have been missed"
        if self._arguments.expect_no_compile and programs:
            return f"expected no compilation, got {units.count(len(programs), 'compiled program')}"
        limit_ns = self._arguments.max_time
        if limit_ns is not None and timing.wall_ns > limit_ns:
            return f"expected at most {units.time(limit_ns)}, got {units.time(timing.wall_ns)}"
        return None

    def _swallow(self, error: BaseException) -> bool:
        """Show an error instead of raising it, if ``--no-raise-error`` covers it; interrupts and exits are raised."""
        if not self._arguments.no_raise_error or not isinstance(error, Exception):
            self.take()
            return False
        self._shell.showtraceback((type(error), error, error.__traceback__))
        return True

    def take(self, silent: bool = False) -> Any:
        """Return the value, and forget it and this block."""
        value, self.value = self.value, None
        self.kept.clear()
        if self._shell.user_ns.get(self._name) is self:
            del self._shell.user_ns[self._name]
        vars(builtins).pop(self._name, None)
        if self._arguments.o:
            value = self.record
            if self._shown and not self._arguments.q:
                shown_already(value)
        _left.discard(self)  # last, so that forget_left() repeats this if it is interrupted
        return None if silent else value


#: Blocks that have ended and whose value has not been taken; a ``break`` can jump over the code that takes it.
_left: set[Block] = set()


def forget_left(*_: object) -> None:
    """Forget the blocks whose value was never taken; called when a cell has run."""
    for block in list(_left):
        block.take()


def open_block(name: str, magic: str, text: str, place: Place, shown: bool) -> Block:
    """Make the block for a magic in a cell; called by the code that :mod:`~jaxmagic.magics.rewrite` generates.

    Args:
        name: the variable that holds the block in the cell.
        magic: the name of the magic.
        text: the options of the magic.
        place: the position of the measured code in the cell.
        shown: whether the cell displays its value.
    """
    shell, function = get_ipython(), declared(magic)
    with KeepingLastShown(magic):
        arguments, _ = options.read(text, function.parser)
        watch = function.recorder(shell, arguments, shown)
        style = asked_for(current_style(shell), arguments)
        return Block(shell, name, arguments, watch, function.parser, style=style, place=place, shown=shown)


def asked_for(style: Style, arguments: argparse.Namespace) -> Style:
    """Apply the options of a magic; ``--all`` shows all rows, and more rows than usual need a whole report."""
    rows = getattr(arguments, "top", None) or (sys.maxsize if arguments.all else style.rows)
    whole = arguments.all or getattr(arguments, "explain", False) or rows > style.rows
    return replace(style, rows=rows, whole=whole)


def current_style(shell: InteractiveShell) -> Style:
    """Return the style that the user has set with ``%config JaxMagics``."""
    magics = shell.magics_manager.registry.get("JaxMagics")
    return DEFAULT if magics is None else magics.style


def report(record: Displayable, style: Style, arguments: argparse.Namespace, *, explain: bool = False) -> None:
    """Display a record and its live view, as the options say; the record is kept if that fails."""
    views: list[Any] = []
    if arguments.w:
        attempt("-w", lambda: views.append(_view(record)))
    if not arguments.q:
        view = "".join(each.for_report("below") for each in views)
        attempt("The report", lambda: show(record, style, explain=explain, view=view))
    for each in views:
        attempt("-w", partial(display, each))


def show(record: Displayable | Composed, style: Style, *, explain: bool = False, view: str = "") -> None:
    """Display a record in the user's style, as one output unless the report is static."""
    for bundle in outputs(record, style=style, explain=explain, view=view):
        display(bundle, raw=True)


def _view(record: Displayable) -> Any:
    from ..session.view_of import view_of  # imports ipywidgets

    return view_of(record)


def _source(frame: FrameType, place: Place) -> str | None:
    """Return the text of the code, from the cell that IPython has stored."""
    first, start, last, end = place
    lines = [line.encode() for line in linecache.getlines(frame.f_code.co_filename, frame.f_globals)]
    if not 1 <= first <= last <= len(lines):
        return None
    lines = lines[first - 1 : last]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return b"".join(lines).decode(errors="replace").strip() or None
