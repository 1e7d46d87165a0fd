"""Test sessions for the corners of the supported versions, for the ecosystem, and for slow suites.

``make test-matrix`` runs the first two, ``make suites`` the last. Other interpreters than the default have to be on
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
    """Python 3.12 with Colab's JAX, IPython and ipywidgets, the oldest supported versions: what meets them."""
    run_tests(session, *COLAB, tests=MEETING_VERSIONS)
    session.run("pytest", "tests/test_notebooks.py", "-k", "quickstart")


@nox.session(python="3.13")
def newest(session: nox.Session) -> None:
    """Python 3.13 with the newest of everything: what meets JAX, Python or the shell."""
    run_tests(session, tests=MEETING_VERSIONS)


@nox.session(python="3.13")
def ecosystem(session: nox.Session) -> None:
    """Ten programs on the newest JAX and its most used libraries, under every magic."""
    install(session, *LIBRARIES, show=LIBRARIES)
    session.run("pytest", "-n", "auto", "tests/ecosystem", *session.posargs, env={"JAXMAGIC_ECOSYSTEM": "1"})


#: What meets JAX, Python or the shell: private parts of JAX, programs of XLA, the session, and each magic as a whole.
MEETING_VERSIONS = "runtime", "xla", "session", "magics", "*/test_magic.py"

COLAB = "jax==0.7.2", "jaxlib==0.7.2", "ipython==7.34.0", "ipywidgets==7.7.1", "ipykernel==6.17.1"

JAX_0_8 = "jax==0.8.0", "jaxlib==0.8.0"

JAX_0_10 = "jax==0.10.2", "jaxlib==0.10.2"

LIBRARIES = ("flax", "optax", "equinox", "diffrax", "numpyro", "blackjax", "optimistix")

#: Programs with a planted slow line, some of which use libraries.
PLANTED = "tests/profiling/test_planted_lines.py"

#: Forty clean programs, more than half of them loops and cells; the ten programs of the ecosystem; and slow programs,
#: whose remedies are tried.
PROGRAMS = (
    "tests/doctor/test_clean.py",
    "tests/ecosystem/test_diagnosed.py",
    "tests/doctor/test_slow.py",
    "tests/doctor/capture/test_verify.py::TestByHand",
)


# --- Slow suites: `make suites` -------------------------------------------------------------------------------------
# Rates and matrices, which are not part of the checks. A suite is a session with the tag "suites".


@nox.session(python="3.12", tags=["suites"], default=False)
def planted_oldest(session: nox.Session) -> None:
    """Programs with a planted slow line on the oldest JAX that is supported."""
    find_planted(session, *COLAB)


@nox.session(python="3.11", tags=["suites"], default=False)
def planted_jax_0_8(session: nox.Session) -> None:
    """Programs with a planted slow line, including those with libraries, on JAX 0.8.0."""
    find_planted(session, *JAX_0_8)


@nox.session(python="3.11", tags=["suites"], default=False)
def whole_jax_0_8(session: nox.Session) -> None:
    """All tests on JAX 0.8.0."""
    run_tests(session, *JAX_0_8)


@nox.session(python="3.11", tags=["suites"], default=False)
def planted_oldest_python(session: nox.Session) -> None:
    """Programs with a planted slow line on JAX 0.10.2, the newest for Python 3.11."""
    find_planted(session, *JAX_0_10)


@nox.session(python="3.13", tags=["suites"], default=False)
def planted_newest(session: nox.Session) -> None:
    """Programs with a planted slow line on the newest JAX."""
    find_planted(session)


@nox.session(python="3.12", tags=["suites"], default=False)
def whole_oldest(session: nox.Session) -> None:
    """All tests, with all cases, on the oldest JAX that is supported."""
    run_tests(session, *COLAB)


@nox.session(python="3.13", tags=["suites"], default=False)
def whole_newest(session: nox.Session) -> None:
    """All tests, with all cases, on the newest JAX."""
    run_tests(session)


@nox.session(python="3.14", tags=["suites"], default=False)
def newest_python(session: nox.Session) -> None:
    """All tests on the newest Python that JAX supports, if it is installed."""
    run_tests(session)


@nox.session(python="3.11", tags=["suites"], default=False)
def simulations(session: nox.Session) -> None:
    """Check the coverage of intervals and verdicts by minutes of simulation, and write the tables of the manual."""
    install(session)
    all_counts = {"JAXMAGIC_SIMULATED": "1"}
    session.run("pytest", "-n", "auto", "tests/test_simulated.py", *session.posargs, env=all_counts)
    for table in TABLES:
        session.run("python", table)


@nox.session(python="3.11", tags=["suites"], default=False)
def interrupts(session: nox.Session) -> None:
    """Interrupt every magic at each line, and code that begins or ends something twice at each instruction."""
    install(session)
    where = {"JAXMAGIC_ALL_INTERRUPTS": "1"}
    session.run("pytest", "-n", "auto", "tests/test_interrupted.py", *session.posargs, env=where)


@nox.session(python="3.11", tags=["suites"], default=False)
def accessible(session: nox.Session) -> None:
    """Look with axe-core at all pages of the manual, and at live views for each value of each control."""
    session.install("--editable", ".[docs,browser]")
    manual = "build/docs"
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", manual)
    looked_at = "tests/browser/test_manual.py", "tests/browser/test_accessible_views.py"
    session.run("pytest", *looked_at, *session.posargs, env={"JAXMAGIC_ACCESSIBLE": "1", "JAXMAGIC_MANUAL": manual})


#: Programs that write a table of the manual. Tables are committed, and a test fails if one is out of date.
TABLES = "tests/verdict_table.py", "tests/golden.py"


def find_planted(session: nox.Session, *pins: str) -> None:
    """Run the planted lines of all programs on one JAX, with the libraries available for it."""
    install(session, *pins, *LIBRARIES, show=LIBRARIES)
    session.run("pytest", "-n", "auto", PLANTED, *session.posargs)


# --------------------------------------------------------------------------------------------------------------------


def run_tests(session: nox.Session, *pins: str, tests: Sequence[str] = ()) -> None:
    """Install the package with its tests and `pins`, print the versions, and run `tests`, patterns, or all of them.

    ``make test`` runs the tests in a browser and the long notebooks, whose outcome hardly depends on these versions,
    and more examples than here.
    """
    chosen = sorted(str(each) for pattern in tests for each in Path("tests").glob(pattern))
    install(session, *pins)
    fewer = ["-m", "not browser and not long", "--hypothesis-profile", "few", "--ignore=tests/ecosystem"]
    session.run("pytest", "-n", "auto", *fewer, *chosen, *session.posargs)


@nox.session(python="3.11", tags=["suites"], default=False)
def diagnosed_oldest_python(session: nox.Session) -> None:
    """Programs under ``%jaxdoctor``, also with libraries, on JAX 0.10.2, the newest for Python 3.11; their table."""
    diagnose(session, *JAX_0_10)
    devices = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    session.run("python", "-m", "tests.doctor.slow_table", "docs/tables/slow.md", env=devices)


@nox.session(python="3.12", tags=["suites"], default=False)
def diagnosed_oldest(session: nox.Session) -> None:
    """Programs under ``%jaxdoctor``, also with libraries, on the oldest JAX that is supported."""
    diagnose(session, *COLAB)


@nox.session(python="3.13", tags=["suites"], default=False)
def diagnosed_newest(session: nox.Session) -> None:
    """Programs under ``%jaxdoctor``, also with libraries, on the newest JAX."""
    diagnose(session)


@nox.session(python="3.11", tags=["suites"], default=False)
def libraries_oldest_python(session: nox.Session) -> None:
    """Tests of the doctor that need flax, optax, equinox or haiku, on JAX 0.10.2, the newest for Python 3.11."""
    run_with_libraries(session, *JAX_0_10)


@nox.session(python="3.12", tags=["suites"], default=False)
def libraries_oldest(session: nox.Session) -> None:
    """Tests of the doctor that need flax, optax, equinox or haiku, on the oldest JAX that is supported."""
    run_with_libraries(session, *COLAB)


@nox.session(python="3.13", tags=["suites"], default=False)
def libraries_newest(session: nox.Session) -> None:
    """Tests of the doctor that need flax, optax, equinox or haiku, on the newest JAX."""
    run_with_libraries(session)


#: Libraries whose use the rules know; pip resolves the versions for each JAX.
KNOWN_TO_RULES = "flax", "optax", "equinox", "dm-haiku"


def diagnose(session: nox.Session, *pins: str) -> None:
    """Diagnose clean and slow programs on one JAX, and then test all of the doctor, also with libraries."""
    libraries = tuple(dict.fromkeys((*KNOWN_TO_RULES, *LIBRARIES)))
    install(session, *pins, *libraries, show=libraries)
    all_programs = {"JAXMAGIC_DIAGNOSED": "1", "JAXMAGIC_ECOSYSTEM": "1"}
    session.run("pytest", *PROGRAMS, *session.posargs, env=all_programs)
    session.run("pytest", "-n", "auto", "tests/doctor", *session.posargs)


def run_with_libraries(session: nox.Session, *pins: str) -> None:
    """Run the tests of the doctor that need a library, which no other session but the longer ``diagnosed_*`` runs."""
    install(session, *pins, *KNOWN_TO_RULES, show=KNOWN_TO_RULES)
    session.run("pytest", "-n", "auto", "tests/doctor", *session.posargs, env={"JAXMAGIC_LIBRARIES": "1"})


def install(session: nox.Session, *pins: str, show: Sequence[str] = ()) -> None:
    """Install the package with its tests and `pins`, and print the versions."""
    session.install("--editable", ".[test]", *pins)
    session.run("python", "-c", _VERSIONS, *show, log=False)


_VERSIONS = """
import platform, sys
from importlib.metadata import version
names = "jax", "jaxlib", "ipython", "numpy", "pandas", "matplotlib", "ipywidgets", *sys.argv[1:]
print(f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in names), sep=", ")
"""
