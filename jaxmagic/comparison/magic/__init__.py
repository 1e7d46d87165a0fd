"""``%%jaxcompare``."""

from __future__ import annotations

from typing import Any

from IPython.core.magic_arguments import argument, magic_arguments

from ...magics import options
from ...magics.declare import JaxMagics, of_all_that_repeat
from .run import run_compare


@magic_arguments("%jaxcompare")
@argument("-r", metavar="R", type=options.positive_int, help="Take R rounds, however wide the intervals are.")
@argument("--baseline", metavar="LABEL", help="The candidate to compare with; the first one if left out.")
@argument(
    "--check",
    choices=("allclose", "equal", "none"),
    default="allclose",
    help="How the outputs are compared with the baseline's; allclose by default.",
)
@argument("--strict", action="store_true", help="Where outputs differ raise AssertionError, and time nothing.")
@argument(
    "--profile",
    action="store_true",
    help="Record three more calls of each with JAX's profiler, and compare lines and operations.",
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
    help="Or stop after this time, first calls aside; 1s for each candidate if left out. Of a sweep it is for "
    "all points together; 0.5s for each candidate and point if left out.",
)
@argument(
    "--sweep",
    metavar="NAME=VALUES",
    action="append",
    default=[],
    help="Measure for each of these values of a variable, such as n=2**6,2**8; given twice, for all pairs.",
)
@argument(
    "--modes",
    metavar="MODES",
    type=options.modes,
    default=("forward",),
    help="Which of forward, grad and value_and_grad of each function, with commas between them.",
)
@argument(
    "--per",
    metavar="WORK",
    type=options.work,
    help="Add the throughput, for this work in a call: items=N, bytes=N (Python, after the setup) or flops.",
)
@of_all_that_repeat
def jaxcompare(magics: JaxMagics, line: str, cell: str = "", local_ns: dict[str, Any] | None = None) -> Any:
    """Measure expressions side by side: which is faster, by how much, and how sure is that?

    Lines before the first label are setup::

        %%jaxcompare [options]
        x = jnp.ones((1000, 1000))
        numpy: np_version(x)
        jit: jit_version(x)

    They run in turns, in rounds whose order is shuffled and with the baseline twice in each. What counts is the
    median of the ratios to both of its samples. With ``--sweep n=64,256`` all of that is done for each value of
    ``n``, the setup included.
    """
    return run_compare(magics.shell, jaxcompare.parser, line, cell)
