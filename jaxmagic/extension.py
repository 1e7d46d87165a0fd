"""Loading and unloading: what changes in the shell, and how it changes back."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets import TraitError
from traitlets.config import Config

from .interrupts import put_back, uninterrupted
from .magics.cell_lookup import Cells
from .magics.declare import JaxMagics, Parsers
from .magics.once import DisplayOnce, OnceRewriter, forget_shown
from .magics.rewrite import BlockRewriter
from .magics.text_transforms import cell_to_marker, line_in_sight
from .records.cell_names import add_naming, remove_naming
from .terminal import printable

_NAME = "JaxMagics"


@uninterrupted
def load_ipython_extension(shell: InteractiveShell) -> None:
    """``%load_ext jaxmagic``: magics, four transformers, a display hook, what runs behind cells, and their names."""
    if _NAME in shell.magics_manager.registry:
        return
    magics = _configured(shell)
    parsers = Parsers(lambda magic: magic.block)
    magics.replaced = {
        (kind, name): found
        for kind, known in shell.magics_manager.magics.items()
        for name in parsers
        if (found := known.get(name)) is not None
    }
    magics.hooks = Hooks(shell, parsers)
    shell.register_magics(magics)
    magics.hooks.attach()


def _configured(shell: InteractiveShell) -> JaxMagics:
    """The magics with the user's settings; one that is refused is told, and left as it is without it.

    IPython keeps what ``%config`` has refused, and gives it to the next instance.
    """
    known = list(shell.configurables)
    try:
        return JaxMagics(shell=shell)
    except TraitError:
        shell.configurables[:] = known
    magics = JaxMagics(shell=shell, config=Config())
    for name, value in shell.config[_NAME].items():
        try:
            setattr(magics, name, value)
        except TraitError as error:
            default = getattr(magics, name)
            print(printable(f"jaxmagic was loaded with JaxMagics.{name} = {default!r}: {error}"))
    return magics


@uninterrupted
def unload_ipython_extension(shell: InteractiveShell) -> None:
    """``%unload_ext jaxmagic``: everything that loading changed is as it was."""
    magics = shell.magics_manager.registry.pop(_NAME, None)
    if magics is None:
        return
    magics.hooks.detach()
    put_back()
    waits = sys.modules.get("jaxmagic.timing.capture.waits")  # not imported for this: nothing was measured then
    if waits is not None:
        waits.restore()
    for kind, known in shell.magics_manager.magics.items():
        for name in magics.magics.get(kind, ()):
            known.pop(name, None)
        for (replaced_kind, name), found in magics.replaced.items():
            if replaced_kind == kind:
                known[name] = found
    if magics in shell.configurables:
        shell.configurables.remove(magics)


class Hooks:
    """The transformers and the rest, as the objects that have to be taken away again."""

    def __init__(self, shell: InteractiveShell, parsers: Parsers) -> None:
        self._shell = shell
        self._cleanup = partial(_careful, cell_to_marker, parsers)
        self._post = partial(_careful, line_in_sight, parsers)
        self._rewriter = BlockRewriter(
            parsers,
            shell.transform_cell,
            lambda: str(shell.ast_node_interactivity),
            Parsers(lambda magic: "line" in magic.kinds and not magic.block),
        )
        self._once = OnceRewriter(Parsers(), lambda: str(shell.ast_node_interactivity))
        self._display = DisplayOnce(shell)
        self._cells = Cells(shell)

    def attach(self) -> None:
        """Put them behind those that are there."""
        self._shell.input_transformers_cleanup.append(self._cleanup)
        self._shell.input_transformers_post.append(self._post)
        self._shell.ast_transformers += [self._rewriter, self._once]
        self._display.attach()
        for each in _BEHIND_CELLS:
            self._shell.events.register("post_run_cell", each)
        add_naming(self._cells)

    def detach(self) -> None:
        """Take them away, wherever they stand by now."""
        places: list[tuple[list[Any], Any]] = [
            (self._shell.input_transformers_cleanup, self._cleanup),
            (self._shell.input_transformers_post, self._post),
            (self._shell.ast_transformers, self._rewriter),
            (self._shell.ast_transformers, self._once),
        ]
        for hooks, ours in places:
            hooks[:] = [each for each in hooks if each is not ours]
        self._display.detach()
        remove_naming(self._cells)
        for each in _BEHIND_CELLS:
            with suppress(ValueError):  # somebody has taken it away
                self._shell.events.unregister("post_run_cell", each)


def _forget_left(*_: object) -> None:
    """Forget what a cell has left behind; costs nothing in a session that has used no magic of ours."""
    block = sys.modules.get("jaxmagic.magics.block")
    if block is not None:
        block.forget_left()


def _note_memory(result: Any = None) -> None:
    """Note what arrays take now, for the view of a session's cells.

    Costs nothing where JAX has not been imported.
    """
    if "jax" in sys.modules and getattr(getattr(result, "info", None), "store_history", False):
        from .memory_use.capture.cells import note_cell

        note_cell(result.execution_count)


#: Modules, and what each of them gives back behind a cell.
_GIVING_BACK = (
    ("compilation.capture.compile_log", "reset_here"),
    ("profiling.capture.profiler_session", "end_abandoned"),
)


def _let_go(*_: object) -> None:
    """Give back what the cell dropped, ended in another thread or put back itself.

    These are JAX's profiler, JAX's explanations and the handler of Ctrl-C. Costs nothing where they were not used.
    """
    put_back()
    for module, name in _GIVING_BACK:
        loaded = sys.modules.get(f"jaxmagic.{module}")
        if loaded is not None:
            getattr(loaded, name)()


_BEHIND_CELLS = (_forget_left, forget_shown, _note_memory, _let_go)


def _careful(transform: Any, parsers: Parsers, lines: list[str]) -> list[str]:
    """A text transformer that fails leaves the text alone: the magic itself is called then."""
    try:
        return transform(lines, parsers)
    except Exception:
        return lines
