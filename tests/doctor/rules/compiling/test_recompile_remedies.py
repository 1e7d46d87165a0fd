"""What helps a function that compiles again."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxmagic.doctor.rules.compiling import recompile_remedies
from jaxmagic.records.call_stack import Frame


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("y = x[x > bound].mean()", "The size of x[x > bound] depends on values"),
        ("y = jnp.unique(x)", "Pass size= with the largest size"),
        ("y = jnp.concatenate([y, x])", "Keep one size: make the array once"),
    ],
)
def test_sizes_outside_jit_are_kept_as_the_line_needs_it(tmp_path: Path, line: str, words: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"{line}\n")
    assert words in str(recompile_remedies.one_size(Frame(function="<module>", file=str(file), line=1)))
