"""Load and unload the extension: change the shell, and restore it."""

from __future__ import annotations

import difflib
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets import TraitError
from traitlets.config import Config

from .interrupts import put_back, uninterrupted
from .magics.cell_lookup import Cells
from .magics.completion import Completion
from .magics.declare import JaxMagics, Parsers
from .magics.once import DisplayOnce, OnceRewriter, forget_shown
from .magics.options.settings import NAME, meant_setting
from .magics.rewrite import BlockRewriter
from .magics.text_transforms import cell_in_sight, cell_to_marker, line_in_sight
from .records.cell_names import add_naming, remove_naming
from .session.shown_errors import LastCell, keep_last_shown, last_seen, last_shown
from .session.uncalled import uncalled_block
from .subjects import magics
from .terminal import print_line


@uninterrupted
def load_ipython_extension(shell: InteractiveShell) -> None:
    """Run ``%load_ext jaxmagic``: add magics, transformers, a display hook, callbacks after cells, and cell names."""
    if NAME in shell.magics_manager.registry:
        return
    magics = _configured(shell)
    parsers = Parsers(lambda magic: magic.block)
    magics.replaced = {
        (kind, name): known[name]
        for kind, known in shell.magics_manager.magics.items()
        for name in parsers
        if known.get(name) is not None
    }
    magics.hooks = Hooks(shell, parsers)
    shell.register_magics(magics)
    magics.hooks.attach()


def _configured(shell: InteractiveShell) -> JaxMagics:
    """Make the magics with the user's settings; report invalid settings, and keep their defaults.

    IPython keeps values that ``%config`` has rejected, and passes them to the next instance.
    """
    known = list(shell.configurables)
    try:
        return JaxMagics(shell=shell)
    except TraitError:
        shell.configurables[:] = known
    magics = JaxMagics(shell=shell, config=Config())
    for name, value in shell.config[NAME].items():
        try:
            setattr(magics, name, value)
        except TraitError as error:
            default = getattr(magics, name)
            print_line(f"jaxmagic was loaded with JaxMagics.{name} = {default!r}: {error}")
    return magics


@uninterrupted
def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Run ``%unload_ext jaxmagic``: restore everything that loading changed."""
    magics = shell.magics_manager.registry.pop(NAME, None)
    if magics is None:
        return
    magics.hooks.detach()
    put_back()
    waits = sys.modules.get("jaxmagic.timing.capture.waits")  # if it was never imported, nothing was measured
    if waits is not None:
        waits.restore()
    for kind, known in shell.magics_manager.magics.items():
        for name in magics.magics.get(kind, ()):
            known.pop(name, None)
        for (replaced_kind, name), original in magics.replaced.items():
            if replaced_kind == kind:
                known[name] = original
    if magics in shell.configurables:
        shell.configurables.remove(magics)


class Hooks:
    """The transformers and other hooks, kept so that the same objects can be removed again."""

    def __init__(self, shell: InteractiveShell, parsers: Parsers) -> None:
        self._shell = shell
        self._cleanup = [partial(_careful, cell_in_sight, Parsers()), partial(_careful, cell_to_marker, parsers)]
        for each in self._cleanup:  # so that IPython asks for the lines below a cell magic
            vars(each)["has_side_effects"] = True
        self._post = partial(_careful, line_in_sight, Parsers(lambda magic: "cell" in magic.kinds), parsers)
        self._rewriter = BlockRewriter(
            parsers,
            shell.transform_cell,
            lambda: str(shell.ast_node_interactivity),
            Parsers(lambda magic: "line" in magic.kinds and not magic.block),
        )
        self._once = OnceRewriter(Parsers(), lambda: str(shell.ast_node_interactivity))
        self._display = DisplayOnce(shell)
        self._cells = Cells(shell)
        self._completion = Completion(shell, Parsers())
        self._shown = ShownBefore()
        self._hint = partial(_hint, shell, self._shown)

    def attach(self) -> None:
        """Add the hooks after the existing ones."""
        self._shell.input_transformers_cleanup.extend(self._cleanup)
        self._shell.input_transformers_post.append(self._post)
        self._shell.ast_transformers += [self._rewriter, self._once]
        self._display.attach()
        self._completion.attach()
        self._shown.attach(self._shell)
        for callback in (*_AFTER_CELLS, self._hint):
            self._shell.events.register("post_run_cell", callback)
        add_naming(self._cells)

    def detach(self) -> None:
        """Remove the hooks, wherever they are by now."""
        places: list[tuple[list[Any], Any]] = [
            *((self._shell.input_transformers_cleanup, each) for each in self._cleanup),
            (self._shell.input_transformers_post, self._post),
            (self._shell.ast_transformers, self._rewriter),
            (self._shell.ast_transformers, self._once),
        ]
        for hooks, ours in places:
            hooks[:] = [each for each in hooks if each is not ours]
        self._display.detach()
        self._completion.detach()
        self._shown.detach(self._shell)
        remove_naming(self._cells)
        for callback in (*_AFTER_CELLS, self._hint):
            with suppress(ValueError):  # already removed by other code
                self._shell.events.unregister("post_run_cell", callback)


@dataclass(slots=True)
class _Running:
    """A cell that runs, with the errors that had been shown when it began.

    Attributes:
        info: what IPython knows of the cell.
        before: the last error that was not about usage.
        seen: the last error.
        told: the last error, of a cell that this one has run too, whose end had been told to the hooks.
    """

    info: object
    before: BaseException | None
    seen: BaseException | None
    told: BaseException | None


class ShownBefore:
    """Lets an error that ran nothing, such as a mistyped magic, keep the error that was shown before its cell.

    Attributes:
        goes_on: whether the last cell showed an error that did not end it, as ``%run`` does.
    """

    def __init__(self) -> None:
        self._running: list[_Running] = []  # a cell may run another one, as %cpaste does
        self.goes_on = False

    def attach(self, shell: InteractiveShell) -> None:
        """Register the callbacks."""
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)

    def detach(self, shell: InteractiveShell) -> None:
        """Unregister the callbacks."""
        for event, callback in (("pre_run_cell", self._begin), ("post_run_cell", self._end)):
            with suppress(ValueError):  # already removed by other code
                shell.events.unregister(event, callback)

    def _begin(self, info: object = None, *_: object) -> None:
        self._running.append(_Running(info, last_shown(), last_seen(), last_seen()))

    def _end(self, result: Any = None, *_: object) -> None:
        info, last = getattr(result, "info", None), last_seen()
        places = [place for place, cell in enumerate(self._running) if cell.info is info]
        if not places:  # an empty cell
            self.goes_on = False
            return
        cell = self._running[places[-1]]
        del self._running[places[-1] :]
        for around in self._running:
            around.told = last
        LastCell.showed = last is not cell.seen
        refused = getattr(result, "error_before_exec", None)
        raised = getattr(result, "error_in_exec", None)
        self.goes_on = last is not cell.told and refused is None and raised is None
        usage = refused if isinstance(refused, SyntaxError) else raised if isinstance(raised, UsageError) else None
        if usage is not None:
            keep_last_shown(usage, cell.before, magic=_mistyped(str(usage)), seen=cell.seen)


def _forget_left(*_: object) -> None:
    """Forget the blocks that a cell has left; costs nothing in a session that has used none of the magics."""
    block = sys.modules.get("jaxmagic.magics.block")
    if block is not None:
        block.forget_left()


def _note_memory(result: Any = None) -> None:
    """Note the current array memory, for the view of a session's cells.

    Costs nothing if JAX has not been imported.
    """
    if "jax" in sys.modules and getattr(getattr(result, "info", None), "store_history", False):
        from .memory_use.capture.cells import note_cell

        note_cell(result.execution_count)


def _hint(shell: InteractiveShell, shown: ShownBefore, result: Any = None) -> None:
    """Print one line under the traceback of an error that ``%jaxdoctor`` explains, and of some mistakes of usage.

    These are a mistyped magic, a function of ours that is to be called in a ``with`` statement, and a name that was
    local to a magic; and ``%config`` of a class that does not exist. Costs nothing otherwise.
    """
    error = last_seen() if shown.goes_on else getattr(result, "error_in_exec", None)
    magics = shell.magics_manager.registry.get(NAME)
    cell = str(getattr(getattr(result, "info", None), "raw_cell", ""))
    if "%config" in cell and (setting := meant_setting(cell, [type(each).__name__ for each in shell.configurables])):
        print_line(setting)
    if isinstance(error, UsageError) and (meant := _meant(str(error))):
        print_line(meant)
    if isinstance(error, TypeError) and (uncalled := uncalled_block(error)):
        print_line(uncalled)
    repeatable = sys.modules.get("jaxmagic.magics.repeatable")
    if isinstance(error, NameError) and repeatable and (local := repeatable.about_local(error, shell.user_ns)):
        print_line(local)
    if error is not None and "jax" in sys.modules and getattr(magics, "error_hint", False):
        from .doctor.capture.failures.hint import print_hint

        print_hint(error)


#: What IPython says of a magic that it does not know.
_NOT_FOUND = re.compile(r"agic (?:function )?`(?P<percent>%+)(?P<name>jax\w*)` not found")


def _mistyped(message: str) -> str | None:
    """Return the magic whose name is close to one that IPython does not know, if there is one."""
    found = _NOT_FOUND.search(message)
    return (
        None
        if found is None
        else next(iter(difflib.get_close_matches(found["name"], magics(), 1, cutoff=0.75)), None)
    )


def _meant(message: str) -> str | None:
    """Return the hint for a magic that IPython does not know, if its name begins as ours do."""
    found = _NOT_FOUND.search(message)
    if found is None:
        return None
    name = _mistyped(message)
    if name is None:
        return "%jaxmagic lists the magics of jaxmagic."
    given, kinds = found["percent"], magics()[name].magic.kinds
    percent = given if ("cell" if given == "%%" else "line") in kinds else "%%" if given == "%" else "%"
    others = "" if name == "jaxmagic" else " %jaxmagic lists all magics."
    return f"Did you mean {percent}{name}?{others}"


#: Modules with a function that releases resources after a cell.
_RELEASING = (
    ("compilation.capture.listeners", "reset_here"),
    ("profiling.capture.profiler_session", "end_abandoned"),
)


def _release(*_: object) -> None:
    """Release resources that the cell dropped, ended in another thread, or reinstalled.

    These are JAX's profiler, JAX's explanations and the handler of Ctrl-C. Costs nothing if they were not used.
    """
    put_back()
    for module, name in _RELEASING:
        loaded = sys.modules.get(f"jaxmagic.{module}")
        if loaded is not None:
            getattr(loaded, name)()


_AFTER_CELLS = (_forget_left, forget_shown, _note_memory, _release)


def _careful(transform: Any, *given: Any) -> list[str]:
    """Transform text, which comes after parsers, or leave it unchanged if that fails; the magic is then called.

    If Ctrl-C was pressed meanwhile, as while a magic is first imported, the cell raises ``KeyboardInterrupt`` when it
    runs: IPython handles it only there.
    """
    *parsers, lines = given
    try:
        return _whole(transform, lines, *parsers)
    except KeyboardInterrupt:
        return ["raise KeyboardInterrupt\n"]
    except Exception:
        return lines


@uninterrupted
def _whole(transform: Any, *given: Any) -> list[str]:
    """Transform text without being interrupted, which would leave modules half imported."""
    return transform(*given)
