"""Cells that fail: their error, the line marked with ``# here``, and the cell with another line in its place."""

from __future__ import annotations

import itertools
import linecache
import textwrap
from typing import Any

import jax
import pytest

from jaxmagic.doctor.analysis.failures.explanation import explanation
from jaxmagic.doctor.capture.failures.failure import read_failure
from jaxmagic.doctor.record.failure import Failure
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.report.errors import ERROR_NOTES
from jaxmagic.records.note import Note

_numbers = itertools.count(1)

#: What each cell begins with.
IMPORTS = "import functools, math, jax, jax.numpy as jnp, numpy as np; from jax import lax"


#: A callback that fails on JAX 0.7 leaves the CPU without asynchronous dispatch, for all tests that follow.
fails_in_callback = pytest.mark.skipif(
    jax.__version_info__ < (0, 10), reason="a failed callback ends asynchronous dispatch on JAX 0.7"
)


class Cell:
    """A cell whose code is known to tracebacks, and what it raised."""

    def __init__(self, source: str) -> None:
        self.source = f"{IMPORTS}\n{textwrap.dedent(source).strip()}\n"
        self.file = f"/home/me/failing_{next(_numbers)}.py"
        self.names: dict[str, Any] = {"__name__": "failing"}
        self.error: BaseException | None = None
        lines = self.source.splitlines(True)
        linecache.cache[self.file] = (len(self.source), None, lines, self.file)
        try:
            exec(compile(self.source, self.file, "exec"), self.names)
        except Exception as error:
            self.error = error

    @property
    def here(self) -> str:
        """The marked line, as records name it."""
        marked = [number for number, line in enumerate(self.source.splitlines(), 1) if "# here" in line]
        return f"{self.file}:{marked[0]}"

    @property
    def failure(self) -> Failure:
        assert self.error is not None
        failure = read_failure(self.error)
        assert failure is not None, repr(self.error)
        return failure

    @property
    def finding(self) -> RuleFinding:
        return explanation(self.failure)

    @property
    def said(self) -> str:
        """All sentences of the explanation."""
        finding = self.finding
        notes = [finding.found, *finding.evidence, *([finding.remedy] if finding.remedy else [])]
        return "\n".join(map(sentence, notes))

    @property
    def fallback(self) -> str | None:
        """The call without jit."""
        notes = [each for each in self.finding.evidence if each.kind == "doctor.error_fallback"]
        return str(notes[0].facts["code"]) if notes else None

    def rewritten(self, code: str) -> Cell:
        """The cell with other code in place of its decorator, or of the marked line up to ``# end``, or of both."""
        decorators = [each for each in code.splitlines() if each.startswith("@")]
        if decorators and not code.splitlines()[-1].startswith("@"):
            others = [each for each in code.splitlines() if each not in decorators]
            return self.rewritten("\n".join(decorators)).rewritten("\n".join(others))
        lines = self.source.splitlines()
        first = next(place for place, line in enumerate(lines) if "# here" in line)
        last = next((place for place, line in enumerate(lines) if "# end" in line), first)
        if code.splitlines()[-1].startswith("@"):
            first = last = next(place for place, line in enumerate(lines) if line.strip().startswith("@"))
        indent = " " * (len(lines[first]) - len(lines[first].lstrip()))
        new = [indent + each for each in code.splitlines()]
        return Cell("\n".join([*lines[1:first], *new, *lines[last + 1 :]]))


def sentence(note: Note) -> str:
    """Word a note on an error."""
    return ERROR_NOTES[note.kind.removeprefix("doctor.")](**note.facts)
