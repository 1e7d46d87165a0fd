"""``%%jaxcompare``."""

from __future__ import annotations

from types import EllipsisType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument, magic_arguments

from ...magics import options
from ...magics.declare import JaxMagics, labelled_by, of_all_that_repeat, read_with
from .labels import as_python, labels_of
from .run import run_compare


@magic_arguments("%jaxcompare")
@argument("-r", metavar="R", type=options.positive_int, help="Take exactly R rounds, however wide the intervals are.")
@argument("--baseline", metavar="LABEL", help="The candidate to compare with; the first one by default.")
@argument(
    "--check",
    metavar="CHECK",
    type=options.check,
    default="allclose",
    help="Compare outputs with the baseline's: allclose (the default), with a tolerance that the types give; 1%% "
    "of the largest value in each array; RTOL or RTOL,ATOL, as numpy.testing.assert_allclose; equal, in every bit; "
    "or none.",
)
@argument("--strict", action="store_true", help="If outputs differ, raise AssertionError and time nothing.")
@argument(
    "--profile",
    action="store_true",
    help="Profile three more calls of each candidate, and compare source lines and operations.",
)
@argument(
    "--rtol",
    metavar="SHARE",
    type=options.share,
    default=0.01,
    help="Stop when the 95 %% intervals of all ratios are within this share of them: 0.01 (the default) or 1%%.",
)
@argument(
    "--budget",
    metavar="TIME",
    type=options.duration_ns,
    help="Or stop after this time, excluding first calls; 1s per candidate by default. With --sweep it is for all "
    "points together, and 0.5s per candidate and point by default.",
)
@argument(
    "--sweep",
    metavar="NAME=VALUES",
    action="append",
    default=[],
    help="Measure for each of these values of a variable, such as n=2**6,2**8; repeat for a grid.",
)
@argument(
    "--modes",
    metavar="MODES",
    type=options.modes,
    default=("forward",),
    help="Which of forward, grad and value_and_grad to call, separated by commas. For a jitted f, grad is "
    "jax.jit(jax.grad(f)).",
)
@argument(
    "--per",
    metavar="WORK",
    type=options.work,
    help="Add the throughput for this work per call: items=N, bytes=N (Python, after the setup) or flops.",
)
@of_all_that_repeat
@read_with(as_python)
@labelled_by(labels_of)
def jaxcompare(
    magics: JaxMagics, line: str, cell: str | EllipsisType | None = None, local_ns: dict[str, Any] | None = None
) -> Any:
    """Measure expressions side by side: which is faster, and by how much?

    Lines before the first label are setup::

        %%jaxcompare [options]
        x = jnp.ones((1000, 1000))
        numpy: np_version(x)
        jit of vmap: jit_version(x)

    Names that the setup assigns are local, as in ``%%timeit``. To keep a value, assign it in an earlier cell.

    A label is a few words, or any text in quotes. An expression without a label is labelled by its source.

    They run in turns, in shuffled rounds with the baseline twice in each. The result is the median of the ratios to
    both samples of the baseline. With ``--sweep n=64,256`` all of this, including the setup, is repeated for each
    value of ``n``.
    """
    if isinstance(cell, str) and not cell.strip():
        raise UsageError(
            "%%jaxcompare has nothing to run: the cell is empty. Write a candidate on each line below, such as  "
            "jit: f(x)"
        )
    if not isinstance(cell, str):
        raise UsageError(
            "jaxcompare runs a cell: write %%jaxcompare on its first line, and below it a candidate on each line, "
            "such as  jit: f(x)"
        )
    return run_compare(magics.shell, jaxcompare.parser, line, cell)
