"""The corners of what is supported: the tests on the oldest and the newest Python, JAX and IPython.

``make test-matrix`` runs all sessions. Interpreters beside the default one have to be on the path; with pyenv::

    PYENV_VERSION=3.11.7:3.12.1:3.13.0 make test-matrix
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import nox

nox.needs_version = ">=2024.10"
nox.options.download_python = "never"


@nox.session(python="3.11")
def oldest_jax(session: nox.Session) -> None:
    """Python 3.11 with JAX 0.8.0."""
    run_tests(session, "jax==0.8.0", "jaxlib==0.8.0", rooms=["capture", "api", "magics"])


@nox.session(python="3.11")
def newest_on_oldest_python(session: nox.Session) -> None:
    """Python 3.11 with the newest of everything; the newest JAX for it is 0.10.2."""
    run_tests(session)


@nox.session(python="3.12")
def oldest_ipython(session: nox.Session) -> None:
    """Python 3.12 with IPython 7.34.0, which is Colab's."""
    run_tests(session, "ipython==7.34.0", rooms=["magics", "widgets", "render"])


@nox.session(python="3.13")
def newest(session: nox.Session) -> None:
    """Python 3.13 with the newest of everything."""
    run_tests(session)


def run_tests(session: nox.Session, *pins: str, rooms: Sequence[str] = ()) -> None:
    """Install the package with its tests and `pins`, say what that came to, and run the tests.

    Those in a browser, and notebooks that take long, are left to ``make test``: what they look at hardly depends on
    these versions, and all checks together have to fit into twenty minutes. So there are fewer examples, too; and
    where only JAX or IPython is another one, only the `rooms` run that meet it, which the contracts make sure of, and
    the tests of the whole.
    """
    tests = Path("tests")
    chosen = [str(tests / room) for room in rooms if (tests / room).is_dir()]
    chosen += map(str, sorted(tests.glob("test_*.py"))) if rooms else []
    session.install("--editable", ".[test]", *pins)
    session.run("python", "-c", _VERSIONS, log=False)
    fewer = ["-m", "not browser and not long", "--hypothesis-profile", "few"]
    session.run("pytest", "-n", "auto", *fewer, *chosen, *session.posargs)


_VERSIONS = """
import platform
from importlib.metadata import version
names = "jax", "jaxlib", "ipython", "numpy", "pandas", "matplotlib", "ipywidgets"
print(f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in names), sep=", ")
"""
