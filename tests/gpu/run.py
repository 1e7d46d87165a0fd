"""Everything that only an accelerator can tell: ``make gpu``, or ``python tests/gpu/run.py [PART ...]``.

Each part takes less than nine minutes and writes its own file into ``build/gpu``; ``report.md`` there is all of them,
with the device and the versions before. The recordings that were made lie there as well.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: What the checks need besides JAX, and what the tables and the marked tests do.
_NEEDED = ("google.protobuf", "IPython", "pandas", "matplotlib", "ipywidgets", "pytest")

#: The packages by which JAX sees an accelerator.
_PLUGINS = "jax-cuda12-plugin", "jax-cuda13-plugin", "jax-rocm60-plugin", "jax-rocm7-plugin", "libtpu"

#: Not the virtual devices of a CPU, on which tests run elsewhere.
_HERE = {"JAXMAGIC_TEST_PLATFORM": "gpu"}

#: No part takes longer, or it is ended.
_MOST_S = 540

#: The checks of each part.
CHECKS = {
    "checks": ("is_ready", "idle", "truth", "queue", "reads", "first_runs"),
    "fence": ("completeness", "dropped"),
    "profile": ("graphs", "sums", "streams"),
    "memory": ("memory", "hostile"),
}

#: Tables of the benchmarks, with what they need besides JAX.
TABLES = {
    "truth": ("IPython", "pandas"),
    "ratios": ("IPython", "pandas"),
    "overhead": ("IPython", "pandas"),
    "sampling": ("IPython", "pandas"),
    "lines": ("IPython", "pandas"),
}

#: The slow programs of the doctor, written as far as the time suffices.
_SLOW = "slow"

PARTS = ("marked", *CHECKS, _SLOW, *TABLES)


def main() -> int:
    """Run the parts, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument(
        "--anyway", action="store_true", help="also where JAX sees no accelerator: to see that it runs"
    )
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "gpu", help="the folder for all of it")
    parser.add_argument("--side", type=int, default=4096, help="of the matrices of the checks")
    parser.add_argument("--scale", type=float, default=1.0, help="all repetitions of the checks times this")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"expected parts among {', '.join(PARTS)}; got {', '.join(sorted(unknown))}")
    sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]
    devices = _devices()
    if not arguments.anyway and not any(each.split()[0] != "cpu" for each in devices):
        print(f"JAX sees no accelerator: {', '.join(devices) or 'it is not installed'}.")
        print(_advice([each for each in _PLUGINS if _version(each)]))
        return 1
    missing = [each for each in _NEEDED if not _is_there(each)]
    if missing:
        print(f"Missing besides JAX: {', '.join(missing)}. What needs them is left out.")
    folder: Path = arguments.into
    folder.mkdir(parents=True, exist_ok=True)
    for part in arguments.parts or PARTS:
        started = time.monotonic()
        text = "\n".join(_part(part, arguments.side, arguments.scale, folder))
        (folder / f"{part}.md").write_text(f"## {part}\n\n{text}\n\n{time.monotonic() - started:.0f} s\n")
        print(f"{part}: {time.monotonic() - started:.0f} s", flush=True)
    told = [*devices, *_driver(), *_versions()] + [f"missing: {', '.join(missing)}"] * bool(missing)
    _write_report(told, folder)
    return 0


def _advice(plugins: list[str]) -> str:
    """What to do where JAX sees no accelerator, with these plugins of it."""
    if plugins:
        return f"{' and '.join(plugins)} is installed: look whether there is a device, and its driver."
    return 'Install JAX for it, such as "jax[cuda12]" or "jax[tpu]", and run this again with that Python.'


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # the package that it is in
        return False


def _write_report(told: Iterable[str], folder: Path) -> None:
    """All parts that there are, of this run and of earlier ones."""
    found = [file.read_text() for part in PARTS if (file := folder / f"{part}.md").exists()]
    head = ["# Report of an accelerator", "", *(f"- {each}" for each in told), ""]
    (folder / "report.md").write_text("\n".join([*head, *found]))
    print(f"Written: {folder / 'report.md'}")


def _part(part: str, side: int, scale: float, folder: Path) -> Iterator[str]:
    if part in CHECKS:
        yield from _checks(CHECKS[part], side, scale, folder / "recordings")
    elif part == "marked":
        yield from _marked(folder)
    elif part == _SLOW:
        command = [sys.executable, "-m", "tests.doctor.slow_table", str(folder / "slow_table.md")]
        yield from _output(command, XLA_PYTHON_CLIENT_PREALLOCATE="false")  # it starts other processes
    elif missing := [each for each in TABLES[part] if not _is_there(each)]:
        yield f"Not run: {', '.join(missing)} is missing."
    else:
        runner = ROOT / "tests" / "benchmarks" / "run.py"
        yield from _output([sys.executable, str(runner), "--only", part])


def _checks(names: Iterable[str], side: int, scale: float, recordings: Path) -> Iterator[str]:
    """A row a figure; a check that fails says why, and the others go on."""
    checks, work = import_module("checks"), import_module("work")
    yield "| check | found | expected | |"
    yield "| --- | --- | --- | --- |"
    made = work.Work(side, scale, recordings)
    for name in names:
        try:
            for row in checks.CHECKS[name](made):
                verdict = {True: "holds", False: "**does not hold**", None: ""}[row.holds]
                yield f"| {row.check} | {row.figure} | {row.expected} | {verdict} |"
        except ModuleNotFoundError as error:
            yield f"| {name} | not run: {error.name} is missing | | |"
        except Exception as error:
            message = str(error).partition("\n")[0][:300]
            yield f"| {name} | {type(error).__name__}: {message} | | **did not end** |"


def _marked(folder: Path) -> Iterator[str]:
    if not _is_there("pytest"):
        yield "Not run: pytest is missing."
        return
    arguments = ["-q", "-m", "gpu", "-p", "no:cacheprovider", "tests/gpu"]
    yield from _output([sys.executable, "-m", "pytest", *arguments], JAXMAGIC_GPU_FOLDER=str(folder), **_HERE)


def _output(command: list[str], **variables: str) -> Iterator[str]:
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"} | variables
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_MOST_S, check=False
        )
        told, ended = done.stdout + done.stderr[-2000:] * bool(done.returncode), f"exit {done.returncode}"
    except subprocess.TimeoutExpired as late:
        told, ended = str(late.stdout or b"", errors="replace"), f"ended after {_MOST_S} s"
    yield "```text"
    yield told.strip()
    yield "```"
    if ended != "exit 0":
        yield f"\n**{ended}**"


def _devices() -> list[str]:
    if find_spec("jax") is None:
        return []
    import jax

    return [f"{each.platform} {each.id}: {each.device_kind}" for each in jax.devices()]


def _driver() -> Iterator[str]:
    """As NVIDIA's tool tells it, where there is one."""
    if tool := shutil.which("nvidia-smi"):
        query = [tool, "--query-gpu=name,driver_version,memory.total,clocks.max.sm", "--format=csv,noheader"]
        yield subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()


def _versions() -> Iterator[str]:
    yield f"Python {platform.python_version()} on {platform.platform()}"
    for name in ("jax", "jaxlib", *_PLUGINS, "ipython"):
        if told := _version(name):
            yield f"{name} {told}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
