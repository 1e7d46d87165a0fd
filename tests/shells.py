"""A real shell with nobody in front of it, and what it displayed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


@dataclass
class Session:
    """A shell, the bundles that were published in it, and the results of its cells."""

    shell: InteractiveShell
    published: list[dict[str, Any]] = field(default_factory=list)

    def run(self, cell: str, *, fails: type[BaseException] | None = None) -> Any:
        """Run a cell as a notebook does; its result, or its error where one is wanted."""
        result = self.shell.run_cell(cell, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        if fails is None:
            if error is not None:
                raise error
            return result.result
        assert isinstance(error, fails), (error, fails)
        return error

    @property
    def report(self) -> str:
        """The text of the last report."""
        return str(self.published[-1]["text/plain"])


class Publisher(DisplayPublisher):  # type: ignore[misc]
    """Keeps what is published."""

    keep: Any = None

    def publish(self, data: Any, *args: Any, **kwargs: Any) -> None:
        self.keep.append(data)


@contextmanager
def open_shell() -> Iterator[Session]:
    """Start a shell without the extension, and end it."""
    main = sys.modules["__main__"]
    InteractiveShell.clear_instance()
    config = Config({"HistoryManager": {"hist_file": ":memory:"}})  # the user's would be written to in every cell
    shell = InteractiveShell.instance(config=config)
    session = Session(shell)
    shell.display_pub = Publisher(parent=shell)
    shell.display_pub.keep = session.published
    shell.user_ns["get_ipython"] = shell.get_ipython
    shell.showtraceback = lambda *args, **kwargs: None  # printed in every test otherwise
    yield session
    shell.extension_manager.unload_extension("jaxmagic")  # each one that stays is asked for the names of all files
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()
    sys.modules["__main__"] = main  # the shell has put its own there, which is emptied with it
