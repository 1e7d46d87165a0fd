"""In a real kernel, as a notebook runs it: messages, errors, Run All, interrupts."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import IPython
import nbformat
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from settings import live_widgets

pytestmark = [pytest.mark.slow, pytest.mark.clock]

SETUP = "%load_ext jaxmagic\nimport jax, jax.numpy as jnp\nx = jnp.ones((64, 64))\nf = jax.jit(lambda x: x @ x)"


class OwnKernel(KernelManager):  # type: ignore[misc]
    def format_kernel_cmd(self, extra_arguments: Any = None) -> list[str]:
        return [sys.executable, "-m", "ipykernel_launcher", "-f", self.connection_file]


class Notebook:
    """One kernel for the module's tests: starting one takes seconds."""

    def __init__(self, client: NotebookClient) -> None:
        self._client = client

    def run(self, source: str, *, fails: bool = False) -> Any:
        cell = nbformat.v4.new_code_cell(source)
        self._client.nb.cells.append(cell)
        try:
            self._client.execute_cell(cell, len(self._client.nb.cells) - 1)
        except CellExecutionError:
            assert fails, cell.outputs
        return cell

    def text(self, source: str) -> str:
        """What a cell evaluates to, as text."""
        outputs = self.run(source).outputs
        return next(str(each.data["text/plain"]) for each in outputs if each.output_type == "execute_result")

    def completed(self, cell: str, at: int | None = None) -> list[str]:
        """What JupyterLab offers at a position of a cell, in its order."""
        content = self._client.kc.complete(cell, len(cell) if at is None else at, reply=True)["content"]
        return [cell[: content["cursor_start"]] + each for each in content["matches"]]


@pytest.fixture(scope="module")
def notebook() -> Iterator[Notebook]:
    client = NotebookClient(nbformat.v4.new_notebook(), timeout=120, kernel_manager_class=OwnKernel)
    with client.setup_kernel():
        it = Notebook(client)
        it.run(SETUP)
        yield it


def clean(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def test_one_output_of_two_media_and_then_the_value(notebook: Notebook) -> None:
    cell = notebook.run("%jaxtime f(x).shape")
    report, value = cell.outputs
    assert set(report.data) == {"text/plain", "text/html"}
    assert value.data["text/plain"] == "(64, 64)"
    assert value.execution_count == cell.execution_count


@pytest.mark.parametrize(
    "magic",
    [
        "%jaxtime -o f(x)",
        "%%jaxtime -o\nf(x)",
        "%jaxmem -o f(x)",
        "%jaxmem --before -o",
        "%jaxprof -o f(x)",
        "%jaxtimeit -o --budget 20ms f(x)",
        "%%jaxtimeit -o --budget 20ms\nf(x)",
        "%%jaxcompare -o --budget 20ms\none: f(x)\ntwo: x @ x",
    ],
)
def test_a_report_is_shown_once_where_the_record_is_the_value(notebook: Notebook, magic: str) -> None:
    cell = notebook.run(magic)
    (report,) = cell.outputs
    assert set(report.data) == {"text/plain", "text/html"}
    assert notebook.text(f"Out[{cell.execution_count}].to_frame().size > 0") == "True"
    if "--before" not in magic:  # which takes no code, and a semicolon is some
        assert len(notebook.run(f"{magic};").outputs) == 1
    if not magic.startswith("%%"):
        assert len(notebook.run(f"r = {magic}").outputs) == 1
        assert len(notebook.run(f"r = {magic}\nr").outputs) == 2  # the second one is the user's wish


def test_a_traceback_shows_the_cells_lines(notebook: Notebook) -> None:
    cell = notebook.run("%%jaxtime\na = 1\nb = a / 0", fails=True)
    report, error = cell.outputs
    assert "ended with ZeroDivisionError" in report.data["text/plain"]
    text = clean("\n".join(error.traceback))
    assert "----> 3 b = a / 0" in text
    assert "jaxmagic" not in text


def test_a_line_of_a_cell_is_said_with_the_number_of_the_cell(notebook: Notebook) -> None:
    cell = notebook.run("w = jnp.arange(4096.0).reshape(64, 64)\ng = jax.jit(\n    lambda x: x @ w)")
    report = notebook.run("%jaxmem m = g(x)").outputs[0].data
    for medium in ("text/plain", "text/html"):
        assert f"cell {cell.execution_count}:3" in " ".join(report[medium].split())
        assert "ipykernel_" not in report[medium]


def test_run_all_stops_at_an_error() -> None:
    cells = [SETUP, "%%jaxtime\nraise ValueError('stop here')", "after = 1"]
    document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    with pytest.raises(CellExecutionError, match="stop here"):
        NotebookClient(document, timeout=120, kernel_manager_class=OwnKernel).execute()
    assert document.cells[2].execution_count is None


def test_await_works_beside_the_kernels_event_loop(notebook: Notebook) -> None:
    notebook.run("import asyncio")
    assert notebook.text("%jaxtime -q await asyncio.sleep(0, 'slept')") == "'slept'"
    assert notebook.text("%%jaxtime -q\nawait asyncio.sleep(0)\n'done'") == "'done'"
    assert notebook.text("%jaxtime -q if True: await asyncio.sleep(0); late = 'late'\nlate") == "'late'"


def test_getsource_and_hlo_lines_are_those_of_the_cell(notebook: Notebook) -> None:
    notebook.run("%%jaxtime -q\n\n@jax.jit\ndef g(a):\n    return jnp.sin(a)")
    assert "return jnp.sin(a)" in notebook.text("import inspect\ninspect.getsource(g)")
    text = notebook.text("g.lower(x).compile().as_text()")
    assert "source_line=5" in text or "line=5 end_line=5" in text


def test_a_cell_run_again_is_the_cause(notebook: Notebook) -> None:
    cell = "%%jaxtime -q -v t\n@jax.jit\ndef again(a):\n    return a * 3\nagain(x);"
    notebook.run(cell)
    notebook.run(cell)
    assert notebook.text("t.compilations[0].cause.kind") == "'new function'"


def test_an_interrupt_goes_through_and_the_kernel_lives(notebook: Notebook) -> None:
    cell = notebook.run(
        "%%jaxtime\nimport os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass", fails=True
    )
    assert "ended with KeyboardInterrupt" in cell.outputs[0].data["text/plain"]
    assert notebook.text("1 + 1") == "2"


def test_a_background_thread_and_printing_do_not_disturb(notebook: Notebook) -> None:
    notebook.run(
        "import threading\nstop = threading.Event()\n"
        "thread = threading.Thread(target=lambda: [f(x).block_until_ready() for _ in iter(stop.is_set, True)])\n"
        "thread.start()"
    )
    cell = notebook.run("%%jaxtime\nprint('printed')\nf(x);")
    notebook.run("stop.set(); thread.join()")
    assert cell.outputs[0].text == "printed\n"
    assert "Wall time" in cell.outputs[1].data["text/plain"]


def test_progress_that_was_shown_is_not_in_the_saved_output(notebook: Notebook) -> None:
    notebook.run(
        "import ipywidgets, threading\nfrom jaxmagic.progress import bar as progress\n"
        "import os\ndisabled = os.environ.pop('TQDM_DISABLE')\n"
        "delay, progress._DELAY_S = progress._DELAY_S, -1.0"
    )
    cell = notebook.run("%jaxprof -q f(x);")
    notebook.run("progress._DELAY_S, os.environ['TQDM_DISABLE'] = delay, disabled")
    assert [each.data for each in cell.outputs] == [{"text/plain": ""}]
    assert notebook.text(f"from typing import Any\n{inspect.getsource(live_widgets)}\nlen(live_widgets())") == "0"
    assert notebook.text("[each.name for each in threading.enumerate() if 'jaxmagic' in each.name]") == "[]"


_COMPILES_UNTIL_IT_IS_SEEN = """
import os, threading
disabled = os.environ.pop("TQDM_DISABLE")
from jax._src import compiler
from jaxmagic.progress import compiling_line; from jaxmagic.progress import line as progress_line
seen, texts = threading.Event(), []
tick, draw, real = compiling_line._TICK_S, progress_line._NotebookText.draw, compiler.backend_compile_and_load
def note(line, text, share):
    draw(line, text, share), texts.append(text), seen.set()
def slow(*args, **kwargs):
    assert seen.wait(60)
    return real(*args, **kwargs)
compiling_line._TICK_S, progress_line._NotebookText.draw, compiler.backend_compile_and_load = 0.01, note, slow
"""


@pytest.mark.parametrize("magic", ["%jaxtime", "%jaxmem"])
def test_a_long_compilation_is_shown_until_the_code_goes_on(notebook: Notebook, magic: str) -> None:
    notebook.run("%jaxtime -q 1")  # compiles the fence
    notebook.run(_COMPILES_UNTIL_IT_IS_SEEN)
    cell = notebook.run(f"{magic} -q print(jax.jit(lambda x: x - 3).lower(x).compile()(x).shape)")
    notebook.run("compiling_line._TICK_S, compiler.backend_compile_and_load = tick, real")
    notebook.run("progress_line._NotebookText.draw, os.environ['TQDM_DISABLE'] = draw, disabled")
    emptied, printed = cell.outputs
    assert (emptied.data, printed.text) == ({"text/plain": ""}, "(64, 64)\n")
    assert notebook.text("texts[0]") == "'compiling <lambda>: 0 s'"
    assert notebook.text("[each.name for each in threading.enumerate() if 'jaxmagic' in each.name]") == "[]"


def test_unloading_in_a_kernel_leaves_nothing(notebook: Notebook) -> None:
    notebook.run("%unload_ext jaxmagic")
    assert notebook.text("get_ipython().ast_transformers") == "[]"
    cell = notebook.run("%jaxtime 1", fails=True)
    assert "not found" in str(cell.outputs)
    notebook.run("%load_ext jaxmagic")


def test_options_files_and_labels_are_completed(notebook: Notebook, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "run.json").touch()
    assert notebook.completed("%jaxtime --ex") == ["%jaxtime --expect-no-compile", "%jaxtime --explain"]
    start = f"%jaxtimeit --save {tmp_path}/"
    assert notebook.completed(start) == [f"{start}run.json", f"{start}runs/"]
    if IPython.version_info < (8, 6):  # its completer passes no cell
        return
    line = "%%jaxcompare --baseline "
    cell = f"{line}\njit of vmap: f(x)\neager: x @ x"
    assert notebook.completed(cell, len(line)) == [f'{line}"jit of vmap"', f"{line}eager"]
