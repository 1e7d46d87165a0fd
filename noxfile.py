"""The corners of what is supported, the ecosystem, and the suites that take long.

``make test-matrix`` runs the first two, ``make suites`` the last. Interpreters beside the default one have to be on
the path; with pyenv::

    PYENV_VERSION=3.11.7:3.12.1:3.13.0 make test-matrix
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import nox

nox.needs_version = ">=2024.10"
nox.options.download_python = "never"


@nox.session(python="3.11")
def newest_on_oldest_python(session: nox.Session) -> None:
    """Python 3.11 with the newest of everything; the newest JAX for it is 0.10.2."""
    run_tests(session)


@nox.session(python="3.12")
def colab(session: nox.Session) -> None:
    """Python 3.12 with what Colab has, which is the oldest of JAX, IPython and ipywidgets that is supported."""
    run_tests(session, *COLAB, rooms=[*MEETING_JAX, *MEETING_PEOPLE], but=LONG)
    session.run("pytest", "tests/test_notebooks.py", "-k", "quickstart")


@nox.session(python="3.13")
def newest(session: nox.Session) -> None:
    """Python 3.13 with the newest of everything: what meets JAX, the shell or records as they are stored.

    The other rooms see neither of them, as the contracts make sure; ``make test`` and `colab` run those.
    Planted lines are left to `ecosystem`, which has the same JAX and the libraries.
    """
    run_tests(session, rooms=[*MEETING_JAX, *RECORDS], but=[PLANTED, *DOCUMENTS])


@nox.session(python="3.13")
def ecosystem(session: nox.Session) -> None:
    """Ten programs on the newest JAX and the libraries that people use it with, under every magic."""
    install(session, *LIBRARIES, show=LIBRARIES)
    tests = "tests/ecosystem", PLANTED
    session.run("pytest", "-n", "auto", *tests, *session.posargs, env={"JAXMAGIC_ECOSYSTEM": "1"})


SUBJECTS = "benchmarking", "comparison", "compilation", "memory_use", "overview", "profiling", "timing"

#: Tests of what meets JAX or the shell, of what people see, and of records as they are stored.
MEETING_JAX = (
    "*/capture",
    "runtime",
    "xla",
    "magics",
    "records",
    "comparison/magic",
    *(f"{each}/test_*.py" for each in SUBJECTS),
)
MEETING_PEOPLE = ("*/report", "report", "drawing", "progress", "*/live_view")
RECORDS = ("*/record", "session")

COLAB = "jax==0.7.2", "jaxlib==0.7.2", "ipython==7.34.0", "ipywidgets==7.7.1", "ipykernel==6.17.1"

JAX_0_8 = "jax==0.8.0", "jaxlib==0.8.0"

LIBRARIES = ("flax", "optax", "equinox", "diffrax", "numpyro", "blackjax", "optimistix")

#: Programs with a planted slow line, some of which take libraries.
PLANTED = "tests/profiling/test_planted_lines.py"

#: What documents promise, which takes minutes.
DOCUMENTS = "tests/test_notebooks.py", "tests/test_promises.py", "tests/test_readme.py"

#: That, and interrupts at seeded lines, for which the default and the newest JAX are enough.
LONG = "tests/test_interrupted.py", *DOCUMENTS


# --- What takes long: `make suites` ---------------------------------------------------------------------------------
# Rates and matrices, which are no part of the checks. A suite is a session here that is tagged "suites".


@nox.session(python="3.11", tags=["suites"], default=False)
def planted_jax_0_8(session: nox.Session) -> None:
    """Programs with a planted slow line, those of libraries too, on JAX 0.8.0."""
    find_planted(session, *JAX_0_8)


@nox.session(python="3.11", tags=["suites"], default=False)
def whole_jax_0_8(session: nox.Session) -> None:
    """All tests on JAX 0.8.0."""
    run_tests(session, *JAX_0_8)


@nox.session(python="3.11", tags=["suites"], default=False)
def planted_oldest_python(session: nox.Session) -> None:
    """The same on JAX 0.10.2, the newest for Python 3.11."""
    find_planted(session, "jax==0.10.2", "jaxlib==0.10.2")


@nox.session(python="3.13", tags=["suites"], default=False)
def planted_newest(session: nox.Session) -> None:
    """The same on the newest JAX."""
    find_planted(session)


@nox.session(python="3.14", tags=["suites"], default=False)
def newest_python(session: nox.Session) -> None:
    """All tests on the newest Python that JAX supports, where that is at hand."""
    run_tests(session)


@nox.session(python="3.11", tags=["suites"], default=False)
def simulations(session: nox.Session) -> None:
    """Simulate for minutes what intervals and verdicts promise, and write the tables of the manual."""
    install(session)
    session.run("pytest", "-n", "auto", "tests/test_simulated.py", *session.posargs)
    for table in TABLES:
        session.run("python", table)


@nox.session(python="3.11", tags=["suites"], default=False)
def interrupts(session: nox.Session) -> None:
    """Interrupt every magic at each of its lines, and twice at each instruction of what begins or ends something."""
    install(session)
    where = {"JAXMAGIC_ALL_INTERRUPTS": "1"}
    session.run("pytest", "-n", "auto", "tests/test_interrupted.py", *session.posargs, env=where)


#: Programs that write a table of the manual. A table is committed, and a test tells when it is out of date.
TABLES = "tests/verdict_table.py", "tests/golden.py"


def find_planted(session: nox.Session, *pins: str) -> None:
    """Look for the planted lines of all programs on a JAX, and on the libraries that there are for it."""
    install(session, *pins, *LIBRARIES, show=LIBRARIES)
    session.run("pytest", "-n", "auto", PLANTED, *session.posargs)


# --------------------------------------------------------------------------------------------------------------------


def run_tests(session: nox.Session, *pins: str, rooms: Sequence[str] = (), but: Sequence[str] = ()) -> None:
    """Install the package with its tests and `pins`, say what that came to, and run the tests.

    Those in a browser, and notebooks that take long, are left to ``make test``: what they look at hardly depends on
    these versions, and all checks together have to stay below thirty minutes. So there are fewer examples, too; and
    where only JAX or IPython is another one, only the `rooms` run that meet it, which the contracts make sure of, and
    the tests of the whole. A room is a pattern below `tests`.
    """
    tests = Path("tests")
    chosen = sorted({str(found) for room in rooms for found in tests.glob(room)} - {*but})
    whole = sorted({*tests.glob("test_*.py")} - {*map(Path, (*_THE_SAME_EVERYWHERE, *but))})
    chosen += map(str, whole) if rooms else []
    install(session, *pins)
    fewer = ["-m", "not browser and not long", "--hypothesis-profile", "few"]
    left_out = [f"--ignore={each}" for each in but]
    session.run("pytest", "-n", "auto", *fewer, *left_out, *chosen, *session.posargs)


def install(session: nox.Session, *pins: str, show: Sequence[str] = ()) -> None:
    """Install the package with its tests and `pins`, and say what that came to."""
    session.install("--editable", ".[test]", *pins)
    session.run("python", "-c", _VERSIONS, *show, log=False)


#: Tests of the sources, and of statistics on a fake clock: no version of JAX or IPython changes what they find.
_THE_SAME_EVERYWHERE = "tests/test_house.py", "tests/test_reruns.py", "tests/test_simulated.py"

_VERSIONS = """
import platform, sys
from importlib.metadata import version
names = "jax", "jaxlib", "ipython", "numpy", "pandas", "matplotlib", "ipywidgets", *sys.argv[1:]
print(f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in names), sep=", ")
"""
