"""Programs in cells, as editors know them: ``# %% title`` begins one, and a magic is behind ``# ``."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

#: What begins the line that a profile has to name first.
PLANTED = "# planted"

_FOLDER = Path(__file__).parent / "programs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program of the ecosystem.

    Attributes:
        name: of its file.
        prepare: the cells that define and make everything.
        step: what is measured.
        repeat: the cell of ``%%jaxtimeit`` where `step` cannot be run many times over.
        requirement: the cell that makes ``compiled``; empty where no public function compiles the step ahead of time.
        candidates: what is compared.
        compare: the cell of ``%%jaxcompare``.
        planted: the text of the slow line.
        imports: the packages that it needs.
    """

    name: str
    prepare: tuple[str, ...]
    step: str
    repeat: str
    requirement: str
    candidates: str
    compare: str
    planted: str
    imports: tuple[str, ...]


def read(text: str, name: str) -> Program:
    r"""Read a program.

    >>> text = "# %%\nimport jax\n# %% step\njax.numpy.ones(3)  # planted\n# %% compare\n# %%jaxcompare\n# a: 1"
    >>> program = read(text, "ones")
    >>> program.step, program.compare, program.imports
    ('jax.numpy.ones(3)  # planted', '%%jaxcompare\na: 1', ('jax',))
    """
    _, *parts = re.split(r"^# %%(?: (.*))?\n", text, flags=re.M)
    cells = list(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    titled = {title: code for title, code in cells if title}
    candidates, *_ = titled["compare"].partition("# %%")
    (planted,) = (line for line in text.splitlines() if line.endswith(PLANTED))
    return Program(
        name=name,
        prepare=tuple(code for title, code in cells if not title),
        step=titled["step"],
        repeat=_magic(titled.get("repeat", f"# %%jaxtimeit\n{titled['step']}")),
        requirement=titled.get("requirement", ""),
        candidates=candidates,
        compare=_magic(titled["compare"].removeprefix(candidates)),
        planted=planted.strip(),
        imports=_imports(text),
    )


def _magic(cell: str) -> str:
    """A cell as a notebook has it: its magic, and what is a comment behind that, are none."""
    return re.sub("^# ", "", cell, flags=re.M)


def _imports(text: str) -> tuple[str, ...]:
    nodes = list(ast.walk(ast.parse(text)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return tuple(sorted(set(names)))


def programs() -> list[Program]:
    """All that are in the folder, by name."""
    return [read(path.read_text(encoding="utf-8"), path.stem) for path in sorted(_FOLDER.glob("*.py"))]
