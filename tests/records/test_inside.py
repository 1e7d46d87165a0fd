"""The library function that a line called is found, on fabricated call stacks like those of real libraries."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fabricate.profiling import CALLER, HELPER, MS, fabricated, operation, place

from jaxmagic.profiling.analysis.scope_tree import tree
from jaxmagic.profiling.analysis.source_lines import line_times
from jaxmagic.records.call_stack import Frame, Stack, is_users
from jaxmagic.records.inside import inside, library_module, line_of

INSTALLED = "/opt/lib/python3.12/site-packages"
MINE = Frame(function="step", file="/home/me/train.py", line=17)


def call(function: str, module: str, library: str | None = None) -> Frame:
    return Frame(function=function, file=f"{INSTALLED}/{module}.py", line=3, library=library)


NORM = call("BatchNorm.__call__", "flax/linen/normalization", "flax.linen.BatchNorm")
STATS = call("_compute_stats", "flax/linen/normalization")
DENSE = call("Dense.__call__", "flax/linen/linear", "flax.linen.Dense")
JITTED = call("_JitWrapper.__call__", "equinox/_jit")
SOLVE = call("diffeqsolve", "diffrax/_integrate", "diffrax.diffeqsolve")
REDUCE = Frame(function="reduce", file="/opt/lib/python3.12/functools.py", line=3)
SOFTMAX = call("softmax", "jax/_src/nn/functions")


@pytest.mark.parametrize(
    ("stack", "name"),
    [
        ((MINE, NORM, STATS), "flax.linen.BatchNorm"),
        ((MINE, NORM, DENSE), "flax.linen.BatchNorm"),
        ((MINE, JITTED, SOLVE, DENSE), "diffrax.diffeqsolve"),
        ((MINE, SOLVE, CALLER, DENSE), "flax.linen.Dense"),
        ((MINE, SOLVE, CALLER), None),
        ((MINE, STATS), "flax.linen.normalization"),
        ((MINE, JITTED), None),
        ((MINE, JITTED, replace(SOLVE, library=None)), "diffrax._integrate.diffeqsolve"),
        ((MINE, call("chain.<locals>.update", "optax/_chain")), "optax._chain.chain"),
        ((MINE, REDUCE), None),
        ((MINE, SOFTMAX), None),
        ((MINE, REDUCE, DENSE), "flax.linen.Dense"),
        ((NORM, STATS), "flax.linen.BatchNorm"),
        ((MINE,), None),
        ((), None),
        ((MINE, call("", "flax/linen/linear")), "flax.linen.linear"),
    ],
    ids=["layer", "the outermost", "behind a wrapper", "after the innermost line", "called by a library",
         "only a private function", "only private modules", "another machine", "function in a function",
         "standard library", "JAX", "behind the standard library", "no line of the user's", "no library", "nothing",
         "no function"],
)  # fmt: skip
def test_it_is_the_outermost_exported_function_behind_the_users_line(stack: Stack, name: str | None) -> None:
    assert inside(stack) == name


def test_the_line_is_the_users_or_else_the_innermost() -> None:
    assert line_of((MINE, NORM, STATS)) == MINE
    assert line_of((NORM, STATS)) == STATS
    assert line_of(()) is None


@pytest.mark.parametrize(
    ("file", "module"),
    [
        (f"{INSTALLED}/flax/linen/__init__.py", "flax.linen"),
        (r"C:\Python\Lib\site-packages\flax\core.py", "flax.core"),
        ("/usr/lib/python3/dist-packages/optax/_src/base.py", "optax._src.base"),
        (f"{INSTALLED}/jax/experimental/ode.py", None),
        ("/home/me/flax/linen/linear.py", None),
        ("<@beartype(diffrax.solve) at 0x7f>", None),
    ],
)
def test_a_librarys_file_is_one_that_is_installed(file: str, module: str | None) -> None:
    assert library_module(file) == module


def test_code_that_a_library_has_generated_is_not_the_users() -> None:
    made = Frame(function="solve", file="<@beartype(diffrax.solve) at 0x7f>", line=10)
    assert not is_users(made)
    assert line_of((MINE, made)) == MINE
    assert is_users(Frame(function="f", file="<stdin>", line=1))


def test_code_that_a_library_has_compiled_with_cython_is_not_the_users() -> None:
    made = Frame(function="numpy.random._common.cont", file="numpy/random/_common.pyx", line=606)
    assert not is_users(made)
    assert is_users(Frame(function="f", file="/home/me/fast.pyx", line=1))


def test_the_functions_of_a_line_have_its_time() -> None:
    places = (place(3 * MS, CALLER, NORM), place(MS, CALLER, DENSE), place(2 * MS, CALLER), place(MS, NORM, STATS))
    mine, theirs = line_times(replace(fabricated(), place_times=places))
    assert (mine.time_ns, mine.inside) == (6 * MS, {"flax.linen.BatchNorm": 3 * MS, "flax.linen.Dense": MS})
    assert (theirs.frame, theirs.inside) == (STATS, {"flax.linen.BatchNorm": MS})


def test_the_tree_has_the_library_function_behind_the_users_calls() -> None:
    places = (place(3 * MS, CALLER, HELPER, NORM, STATS), place(MS, NORM, STATS))
    root = tree(replace(fabricated(), place_times=places), "stack")
    mine, theirs = root.children.values()
    (helper,) = mine.children.values()
    assert [each.name for each in helper.children] == ["flax.linen.BatchNorm"]
    assert (theirs.step.name, [each.name for each in theirs.children]) == ("flax.linen.BatchNorm", ["_compute_stats"])


def test_an_operation_without_a_library_has_none() -> None:
    assert operation("add", MS).inside is None
