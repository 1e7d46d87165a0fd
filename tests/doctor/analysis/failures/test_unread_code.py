"""Code from a string, whose text is not kept: what is unknown, and the line that ran it."""

from __future__ import annotations

from failing_cells import Cell


def test_code_from_a_string_is_traced_to_the_line_that_ran_it() -> None:
    cell = Cell("""
        code = "def f(x):\\n    if x > 0: return x\\n    return -x\\njax.jit(f)(1.0)"
        def run(code):
            exec(code)  # here
        run(code)
    """)
    assert cell.finding.line == "<string>:2"
    assert cell.finding.source is None
    assert f"it is unknown which expression failed. It was run at {cell.here}." in cell.said
    assert "It depends on the argument x of f" in cell.said


def test_code_that_can_be_read_names_no_line_that_ran_it() -> None:
    assert "It was run at" not in Cell("jax.jit(lambda x: float(x))(1.0)").said
