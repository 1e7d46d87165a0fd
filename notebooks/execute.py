"""Execute a notebook in a real kernel, show what it prints, and leave it as a page: ``make demo``.

::

    python notebooks/execute.py notebooks/quickstart.ipynb [page.html]

The notebook itself is not changed. The kernel is this interpreter, whatever kernels the user has installed, and the
user's IPython settings stay out of it. The page, by default ``build/NAME.html``, needs no network to be read.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError
from nbconvert import HTMLExporter
from tqdm import tqdm

_ROOT = Path(__file__).resolve().parent.parent
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_SCRIPT_FROM_ELSEWHERE = re.compile(r'<script[^>]*\ssrc="https?:[^>]*>\s*</script>')

#: Beyond this many seconds a cell hangs.
_MOST_SECONDS = 300


def main(arguments: list[str] | None = None) -> int:
    """Execute, show, and write the page; 1 if a cell failed."""
    parser = argparse.ArgumentParser(description="Execute a notebook, show what it prints, and leave it as a page.")
    parser.add_argument("notebook", type=Path)
    parser.add_argument("page", type=Path, nargs="?", help="where the page goes; by default build/NAME.html")
    chosen = parser.parse_args(arguments)
    page = chosen.page or _ROOT / "build" / f"{chosen.notebook.stem}.html"

    page.unlink(missing_ok=True)  # a page of yesterday must not pass for one of today

    notebook = nbformat.read(chosen.notebook, as_version=4)
    with tqdm(total=_count_code(notebook), desc=chosen.notebook.stem, unit="cell", leave=False, disable=None) as bar:

        def on_cell(cell: Any) -> None:
            if text := _transcript(cell):
                bar.write(text, file=sys.stdout, end="")
            bar.update()

        try:
            execute(notebook, chosen.notebook.parent, on_cell)
        except (CellExecutionError, CellControlSignal, DeadKernelError) as error:
            bar.close()
            print(f"{_plain(str(error))}\n\n{chosen.notebook}: a cell failed, so there is no page.", file=sys.stderr)
            return 1
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(to_page(notebook), encoding="utf-8")
    print(f"The notebook as a page: {os.path.relpath(page)}")
    return 0


def execute(notebook: Any, directory: Path, on_cell: Callable[[Any], None] = lambda cell: None) -> None:
    """Run all code cells of `notebook` in a kernel of its own, started in `directory`; outputs go into the cells.

    Args:
        notebook: as ``nbformat.read`` gives it; changed in place.
        directory: where the kernel runs.
        on_cell: called with each code cell after it has run.

    Raises:
        CellExecutionError: a cell raised; the message holds its code and the traceback.
        CellControlSignal: a cell took longer than five minutes.
        DeadKernelError: the kernel is gone.
    """
    with tempfile.TemporaryDirectory() as private:
        kernel = AsyncKernelManager(
            kernel_name="python3",
            # No directories to look for kernels in: what is left is the one of this interpreter.
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            connection_file=os.path.join(private, "kernel.json"),
            # Sockets are files beside that one; no port is opened.
            transport="ipc",
        )

        def on_cell_executed(cell: Any, **_: Any) -> None:
            if cell.cell_type == "code":
                on_cell(cell)

        client = NotebookClient(
            notebook,
            km=kernel,
            timeout=_MOST_SECONDS,
            resources={"metadata": {"path": str(directory)}},
            on_cell_executed=on_cell_executed,
        )
        client.execute(env={**os.environ, "IPYTHONDIR": private})


def to_page(notebook: Any) -> str:
    """`notebook` as HTML that fetches nothing: scripts from elsewhere, for formulas and diagrams, are left out."""
    page, _ = HTMLExporter().from_notebook_node(notebook)
    return _SCRIPT_FROM_ELSEWHERE.sub("", page)


def _count_code(notebook: Any) -> int:
    return sum(cell.cell_type == "code" and bool(cell.source.strip()) for cell in notebook.cells)


def _transcript(cell: Any) -> str:
    """The code of a cell and what came of it, as text; nothing for a cell that shows nothing."""
    shown = list(_texts(cell.outputs))
    if not shown:
        return ""
    return "\n".join([*map(_code_line, cell.source.splitlines()), "", *shown, "", ""])


def _texts(outputs: list[Any]) -> Iterator[str]:
    for output in outputs:
        text = output.text if output.output_type == "stream" else output.get("data", {}).get("text/plain", "")
        if text.strip():
            yield _plain(text.rstrip())


def _code_line(line: str) -> str:
    line = f"    {line}".rstrip()
    return f"\x1b[1m{line}\x1b[0m" if _in_colour() and line else line


def _plain(text: str) -> str:
    return text if _in_colour() else _ANSI.sub("", text)


def _in_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


if __name__ == "__main__":
    sys.exit(main())
