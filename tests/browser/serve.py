"""JupyterLab as a process that ends when the one that started it does, however that one ended.

::

    python -P serve.py [options of jupyter lab]

Its standard input is a pipe whose other end the tests hold. A killed test runner runs no ``finally``, but the system
closes its pipes; the kernels in turn watch the server.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from jupyterlab.labapp import main


def _end_with_parent() -> None:
    os.read(0, 1)  # not sys.stdin, whose lock the interpreter wants when it ends
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sys.exit(main())
