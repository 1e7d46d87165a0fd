"""The built wheel, installed beside an old JAX: does it hold what it should, does it work, and does that JAX stay?

Run with that environment's interpreter and away from the sources, so that they cannot stand in for what the wheel
lacks: ``make wheel``, which is ``python -I tests/smoke_wheel.py dist/*.whl``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path

#: What ``import jaxmagic`` and ``%load_ext jaxmagic`` must not import: each costs 0.1 to 0.8 s.
_SLOW = ("jax", "matplotlib", "pandas", "ipywidgets", "scipy.stats")

#: What ``make wheel`` installs before the wheel.
_JAX = {"jax": "0.7.2", "jaxlib": "0.7.2"}

_IMPORTS = f"""
import sys
import jaxmagic
print([name for name in {_SLOW} if name in sys.modules])
"""

_LOADS = f"""
import sys
get_ipython().run_line_magic("load_ext", "jaxmagic")
print([name for name in {_SLOW} if name in sys.modules])
"""

_MEASURES = """
%load_ext jaxmagic
import jax.numpy as jnp
x = jnp.ones((64, 64))
%jaxtime y = jnp.dot(x, x)
assert float(y[0, 0]) == 64
import jaxmagic
assert jaxmagic.load(jaxmagic.save(jaxmagic.last(), "timing.json")) == jaxmagic.last()
%unload_ext jaxmagic
print("the end")
"""


def main(wheel: Path) -> int:
    """Run all checks; an ``AssertionError`` says which one failed."""
    for check in (the_wheel_holds_the_package_and_nothing_else, the_wheel_is_what_is_installed):
        check(wheel)
        print(f"  {check.__name__.replace('_', ' ')}")
    for check in (the_jax_that_was_there_stays, importing_is_cheap, loading_is_cheap, the_magic_measures):
        check()
        print(f"  {check.__name__.replace('_', ' ')}")
    print(f"{wheel.name} works on Python {sys.version.split()[0]} with JAX {metadata.version('jax')}.")
    return 0


def the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    """``py.typed``, the script and the licence are in; tests, docs and notebooks are not."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {"jaxmagic/py.typed", "jaxmagic/drawing/scripts/live.js"} <= set(names), names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names), names
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"jaxmagic"}, tops
    parts = {part for name in names for part in name.split("/")}
    unwanted = ("tests", "test_", "conftest", "__pycache__")
    assert not [part for part in parts if part.startswith(unwanted)], names


def the_wheel_is_what_is_installed(wheel: Path) -> None:
    """The package comes from this environment, in the wheel's version."""
    found = _run("-c", "import jaxmagic; print(jaxmagic.__file__, jaxmagic.__version__)").split()
    assert Path(found[0]).is_relative_to(sysconfig.get_path("purelib")), found
    assert wheel.name.split("-")[1] == found[1] == metadata.version("jaxmagic"), (wheel, found)


def the_jax_that_was_there_stays() -> None:
    """To upgrade it would separate it from the plugin of its accelerator."""
    assert {name: metadata.version(name) for name in _JAX} == _JAX


def importing_is_cheap() -> None:
    """``import jaxmagic`` imports nothing slow."""
    assert _run("-c", _IMPORTS) == "[]", _run("-c", _IMPORTS)


def loading_is_cheap() -> None:
    """``%load_ext jaxmagic`` imports nothing slow."""
    assert _ipython("loads.py", _LOADS).endswith("[]"), _ipython("loads.py", _LOADS)


def the_magic_measures() -> None:
    """``%jaxtime`` reports, assigns, and its record survives a file."""
    shown = _ipython("measures.ipy", _MEASURES)
    assert "Wall time: " in shown, shown
    assert shown.endswith("the end"), shown


def _ipython(name: str, code: str) -> str:
    """What a real IPython shell prints for `code`."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, name).write_text(code, encoding="utf-8")
        return _run("-m", "IPython", "--no-banner", "--colors=NoColor", name, directory=directory)


def _run(*arguments: str, directory: str | None = None) -> str:
    """What this interpreter prints; away from the sources, and with no settings of the user."""
    with tempfile.TemporaryDirectory() as elsewhere:
        environment = {**os.environ, "IPYTHONDIR": elsewhere, "JAX_PLATFORMS": "cpu"}
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=directory or elsewhere,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stdout
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
