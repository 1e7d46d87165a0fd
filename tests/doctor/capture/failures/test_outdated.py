"""A line of a module that was edited after it had been imported is not shown: another one ran."""

from __future__ import annotations

import importlib
import importlib.machinery
import itertools
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp
import pytest
from failing_cells import sentence

import jaxmagic

SOURCE = """
def norm(x, eps):
    \"\"\"Return x, scaled.\"\"\"
    s = (x ** 2).sum()
    if s < eps and eps in {1e-3, 1e-6}:
        return x
    return x / s
"""

_numbers = itertools.count()


class _OtherLoader(importlib.machinery.SourceFileLoader):
    """Imports a file as other code than that of its text, as pytest does for assertions."""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    name = f"edited_{next(_numbers)}"
    (tmp_path / f"{name}.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module(name)
    sys.modules.pop(name, None)


def explained(module: ModuleType) -> str:
    linecache.checkcache()
    with pytest.raises(jax.errors.ConcretizationTypeError) as caught:
        jax.jit(module.norm)(jnp.ones(3), 1e-6)
    (finding,) = jaxmagic.explain_error(caught.value).findings
    return "\n".join([finding.source or "", *map(sentence, finding.evidence)])


EDITED = ["# one\n# two\n" + SOURCE, SOURCE.replace("< eps", "<= eps"), SOURCE.replace("1e-3", "1e-4")]


@pytest.mark.parametrize("edited", EDITED)
def test_no_line_of_a_file_that_was_edited_is_shown(module: ModuleType, edited: str) -> None:
    Path(str(module.__file__)).write_text(edited)
    said = explained(module)
    assert f"{module.__file__} was changed after it had been imported, so the line that ran is not shown" in said
    assert "It depends on the arguments x, eps of norm" in said
    assert "if s <" not in said
    assert "# two" not in said


@pytest.mark.parametrize("edited", [SOURCE, SOURCE + "\n\ndef other():\n    return 1\n"])
def test_a_file_with_the_same_function_is_shown(module: ModuleType, edited: str) -> None:
    Path(str(module.__file__)).write_text(edited)
    said = explained(module)
    assert "if s < eps and eps in {1e-3, 1e-6}:" in said
    assert "was changed" not in said


def test_code_that_a_loader_changes_is_not_said_to_be_outdated(module: ModuleType) -> None:
    assert module.__spec__ is not None
    module.__spec__.loader = _OtherLoader(module.__name__, str(module.__file__))
    Path(str(module.__file__)).write_text(EDITED[2])
    assert "was changed" not in explained(module)
