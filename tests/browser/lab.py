"""A JupyterLab of the tests' own: on a free port, with private directories, ended with all of its kernels."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient

import jaxmagic

#: Longer than anything takes on a busy machine. Nothing waits for as long unless it hangs.
MOST_SECONDS = 120

_SETTINGS: dict[str, dict[str, object]] = {
    # A question about news covers a corner of the page and takes its clicks. "false" has to be a word.
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    # Cells out of sight are laid out too, so that they can be measured, hovered over and clicked.
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none", "kernelShutdown": True},
    # No "file has changed on disk" in the middle of a test.
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
}

#: Looking whether JupyterLab should be built again takes two seconds of every start.
_PAGE = {"buildAvailable": False, "buildCheck": False}

_OPTIONS = (
    "--no-browser",
    "--allow-root",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    "--ServerApp.terminals_enabled=False",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.expose_app_in_browser=True",
    "--JupyterNotebookApp.expose_app_in_browser=True",
)


@dataclass
class Lab:
    """A running server.

    Attributes:
        url: its address, without a slash at the end.
        token: the secret that opens it.
        directory: the folder that it shows.
        connections: where it keeps the connection files of its kernels.
        log: what it said.
    """

    url: str
    token: str
    directory: Path
    connections: Path
    log: Path
    _process: subprocess.Popen[bytes]
    _clients: dict[str, BlockingKernelClient] = field(default_factory=dict)

    def ask(self, path: str) -> Any:
        """What the server's API answers."""
        headers = {"Authorization": f"token {self.token}"}
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/api/{path}", headers=headers)) as answer:
            return json.load(answer)

    def kernel(self, name: str) -> BlockingKernelClient:
        """A second client of the kernel that the notebook `name` has open."""
        [identity] = [each["kernel"]["id"] for each in self.ask("sessions") if each["path"] == name]
        if identity not in self._clients:
            client = BlockingKernelClient(connection_file=str(self.connections / f"kernel-{identity}.json"))
            client.load_connection_file()
            client.start_channels()
            client.wait_for_ready(timeout=MOST_SECONDS)
            self._clients[identity] = client
        return self._clients[identity]

    def wait_until_ready(self) -> None:
        """Return once the server answers.

        Raises:
            RuntimeError: it ended, or says nothing; the message has the end of its log.
        """
        deadline = time.monotonic() + MOST_SECONDS
        while True:
            with suppress(urllib.error.URLError, ConnectionError):
                self.ask("status")
                return
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"JupyterLab does not answer. Its log ends:\n{self.log.read_text()[-4000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End the server, which ends its kernels first."""
        for client in self._clients.values():
            client.stop_channels()
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


@contextmanager
def start_lab(place: Path) -> Iterator[Lab]:
    """Start JupyterLab with everything that it reads and writes under `place`; it may not answer yet."""
    homes = {
        name: place / name for name in ("shown", "config", "data", "runtime", "settings", "workspaces", "ipython")
    }
    for home in homes.values():
        home.mkdir()
    for plugin, values in _SETTINGS.items():
        _write(homes["settings"] / f"{plugin}.jupyterlab-settings", values)
    _write(homes["config"] / "labconfig" / "page_config.json", _PAGE)

    port, token, log = _free_port(), secrets.token_hex(), place / "lab.log"
    program = [sys.executable, "-P", str(Path(__file__).with_name("serve.py")), *_OPTIONS]
    program += [f"--ServerApp.port={port}", f"--ServerApp.root_dir={homes['shown']}"]
    with log.open("wb") as sink:
        process = subprocess.Popen(
            program,
            env=_environment(homes, token),
            cwd=homes["shown"],
            stdin=subprocess.PIPE,
            stdout=sink,
            stderr=subprocess.STDOUT,
            # A process group of its own: Ctrl-C reaches the tests, which end the server in their own order.
            start_new_session=True,
        )
    lab = Lab(f"http://127.0.0.1:{port}", token, homes["shown"], homes["runtime"], log, process)
    try:
        yield lab
    finally:
        lab.stop()


def _write(path: Path, values: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _environment(homes: dict[str, Path], token: str) -> dict[str, str]:
    """Nothing of the user's is read or written, and kernels are as a user has them: one device, this jaxmagic."""
    names = {
        name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "XLA_FLAGS", "MPL"))
    }
    return names | {
        "JUPYTER_TOKEN": token,  # not an argument, which every user of the machine can read
        "JUPYTER_CONFIG_DIR": str(homes["config"]),
        "JUPYTER_DATA_DIR": str(homes["data"]),  # holds the signatures by which a notebook is trusted
        "JUPYTER_RUNTIME_DIR": str(homes["runtime"]),
        "JUPYTERLAB_SETTINGS_DIR": str(homes["settings"]),
        "JUPYTERLAB_WORKSPACES_DIR": str(homes["workspaces"]),
        "JUPYTER_PREFER_ENV_PATH": "1",  # the kernel is this interpreter, whatever the user has installed
        "IPYTHONDIR": str(homes["ipython"]),
        "PYTHONPATH": str(Path(jaxmagic.__file__).parent.parent),
    }
