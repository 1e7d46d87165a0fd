"""Fresh interpreters: nothing of one measurement reaches the next, and virtual devices are made at the start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def ask(script: str, *arguments: object, devices: int = 1) -> Any:
    """Run a script of this folder in an interpreter of its own; what it printed last, read as JSON."""
    return _answer([str(HERE / script), *map(str, arguments)], devices)


def ask_program(program: str) -> Any:
    """The same for a program given as text."""
    return _answer(["-c", program], 1)


def _answer(arguments: list[str], devices: int) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        flags = f"--xla_force_host_platform_device_count={devices}" if devices > 1 else ""
        # A profile of its own: start-up files and history of whoever runs this are no part of the measurement.
        environment = os.environ | {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags, "IPYTHONDIR": folder}
        # Whoever loads an installed package does not compile it: that would be most of the time.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, *arguments], env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
    return json.loads(done.stdout.splitlines()[-1])
