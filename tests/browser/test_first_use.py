"""Ten questions of a new user, typed into JupyterLab: each has its answer after at most five commands."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .lab import MOST_SECONDS, Lab
from .notebook import Notebook

pytestmark = pytest.mark.long

SETUP = """\
%load_ext jaxmagic
import jax, jax.numpy as jnp
def layer(w, x):
    h = jnp.tanh(x @ w)
    return jnp.sort(h) * jax.nn.sigmoid(h)
def loss(ws, x):
    for w in ws:
        x = layer(w, x)
    return (x * x).mean()
@jax.jit
def step(ws, x):
    value, grads = jax.value_and_grad(loss)(ws, x)
    return [w - 0.1 * g for w, g in zip(ws, grads)], value
ws, x = [jnp.eye(128)] * 4, jnp.ones((256, 128))
cache = {"logits": jnp.ones((1024, 1024))}
half, single = jnp.ones((256, 256), jnp.bfloat16), jnp.ones((256, 256))"""

#: Each question with its commands and a part of the answer.
TASKS = {
    "slow-line": (("%jaxprof ws, value = step(ws, x)",), "return jnp.sort(h) * jax.nn.sigmoid(h)"),
    "recompile": (("%jaxtime ws, value = step(ws, x[:200])",), "f32[200,128] now, f32[256,128] before"),
    "memory": (("%jaxmem --before",), "cache['logits']"),
    "bf16": (("%%jaxcompare --budget 500ms\nf32: single @ single\nbf16: half @ half",), "bf16 returns bfloat16"),
    "last-week": (
        (
            "%jaxtimeit --processes 3 --budget 200ms --save week.json step(ws, x)",
            "%jaxtimeit --processes 3 --budget 200ms --against week.json step(ws, x)",
        ),
        "Each record is from 3 processes. ",
    ),
    "colleague": (("import jaxmagic\njaxmagic.read_profile('tpu.xplane.pb')",), "bound by exposed memcpy"),
    "ci": (
        ("from jaxmagic.testing import assert_no_compile\nwith assert_no_compile():\n    step(ws, x[:100])",),
        "expected no program to compile, got 2.",
    ),
    "paper": (
        ("%%jaxcompare -q -v record --budget 500ms\neager: loss(ws, x)\njit: step(ws, x)",
         "record.figure().savefig('paper.pdf'); print(open('paper.pdf', 'rb').read(4))"),
        "%PDF",
    ),
    "error": (
        ("@jax.jit\ndef flipped(x):\n    if x.sum() > 0:\n        return x\n    return -x\nflipped(x)", "%jaxdoctor"),
        "return jnp.where(x.sum() > 0, x, -x)",
    ),
}  # fmt: skip

DEVICES = """\
%load_ext jaxmagic
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
jax.config.update("jax_num_cpu_devices", 4)
x = jnp.ones((1024, 256))"""

SCALES = """\
%%jaxcompare --profile --budget 500ms --sweep devices=1,2,4
mesh = jax.make_mesh((devices,), ("data",), axis_types=(AxisType.Auto,), devices=jax.devices()[:devices])
xs = jax.device_put(x, NamedSharding(mesh, P("data")))
energy: (xs * xs).sum()"""

_HAS_RUN = """index => {
    const cells = document.querySelectorAll(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell");
    return /\\d/.test(cells[index].querySelector(".jp-InputPrompt").textContent);
}"""


def run(notebook: Notebook, index: int) -> None:
    """Run a cell as a user does: an error does not stop the cells that follow."""
    notebook.cell(index).locator(".jp-InputArea-editor").click()
    notebook.page.keyboard.press("Shift+Enter")
    notebook.page.wait_for_function(_HAS_RUN, arg=index, timeout=MOST_SECONDS * 1000)
    notebook.wait_for_kernel()


def test_ten_questions_have_their_answers(
    new_notebook: Callable[..., Notebook], lab: Lab, request: pytest.FixtureRequest
) -> None:
    recording: Path = request.config.rootpath / "docs/recordings/tpu_v6e_4dev_inference.xplane.pb"
    shutil.copy(recording, lab.directory / "tpu.xplane.pb")
    notebook = new_notebook("first-use.ipynb", SETUP, *(each for commands, _ in TASKS.values() for each in commands))
    notebook.wait_for_kernel()
    run(notebook, 0)
    index = 0
    for name, (commands, answer) in TASKS.items():
        assert len(commands) <= 5
        for _ in commands:
            index += 1
            run(notebook, index)
        said: Any = notebook.cell(index).locator(".jp-Cell-outputArea")
        said.get_by_text(answer).first.wait_for(state="attached")
        notebook.shoot(notebook.cell(index), f"first-use-{name}")


def test_whether_it_scales_is_answered(new_notebook: Callable[..., Notebook]) -> None:
    notebook = new_notebook("first-use-devices.ipynb", DEVICES, SCALES)
    notebook.run_all()
    notebook.cell(1).get_by_text("efficiency").first.wait_for()
    notebook.shoot(notebook.cell(1), "first-use-devices")
