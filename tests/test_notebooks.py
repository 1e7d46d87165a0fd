"""Every notebook runs from top to bottom in a real kernel, and is kept without outputs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


class OwnKernel(KernelManager):  # type: ignore[misc]
    def format_kernel_cmd(self, extra_arguments: Any = None) -> list[str]:
        return [sys.executable, "-m", "ipykernel_launcher", "-f", self.connection_file]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    document = nbformat.read(path, as_version=4)
    NotebookClient(document, timeout=300, kernel_manager_class=OwnKernel, resources={}).execute()
    reports = [
        output
        for cell in document.cells
        for output in cell.get("outputs", [])
        if "Wall time" in str(output.get("data", {}).get("text/plain", ""))
    ]
    assert len(reports) >= 5
    assert all("text/html" in report.data for report in reports if report.output_type == "display_data")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    document = nbformat.read(path, as_version=4)
    for cell in document.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS
