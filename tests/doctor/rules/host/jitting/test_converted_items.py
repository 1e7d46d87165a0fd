"""A function that turns one item at a time into arrays of JAX is not to be jitted: NumPy prepares a batch."""

from __future__ import annotations

import re

import pytest
from shells import Session

import jaxmagic
from jaxmagic.doctor.record.diagnosis import Diagnosis

pytestmark = [pytest.mark.clock, pytest.mark.usefixtures("at_any_cost")]

SETUP = """
import jax, jax.numpy as jnp, jaxmagic, numpy as np
images = np.arange(40 * 8, dtype=np.uint8).reshape(40, 8)
labels = np.arange(40)
on_device, matrix = jnp.asarray(images), jnp.ones((8, 8))
class Pairs:
    def __init__(self, images, labels): self.images, self.labels = images, labels
    def __getitem__(self, i):
        image = jnp.asarray(self.images[i], dtype=jnp.float32) / 255.0
        return (image - 0.5) / 0.25, jnp.asarray(self.labels[i])
def load(i): return jnp.asarray(images[i], dtype=jnp.float32) / 255.0
def load_there(i): return jnp.asarray(on_device[i], dtype=jnp.float32) / 255.0
def mapped(i): return matrix @ (jnp.asarray(images[i], dtype=jnp.float32) / 255.0)
def activated(i): return jnp.tanh(jnp.asarray(images[i], dtype=jnp.float32) / 255.0)
def batch(pairs):
    items = [pairs[i] for i in range(40)]
    xs, ys = zip(*items)
    return jnp.stack(xs), jnp.stack(ys)
def joined(load): return jnp.stack([load(i) for i in range(40)])
def collected(load):
    xs = []
    for i in range(40):
        x = load(i)
        xs.append(x)
    return jnp.array(xs)
def added(load):
    total, totals = 0.0, []
    for i in range(40):
        x = load(i)
        total = jnp.sum(x) + total
        totals.append(total)
    return jnp.stack(totals)
"""


def remedy_for(session: Session, call: str) -> str:
    """What to do about the operations that a call runs."""
    session.run(f"{SETUP}\njaxmagic.diagnose({call}, only='not-jitted')")
    diagnosis = jaxmagic.history()[-1]
    assert isinstance(diagnosis, Diagnosis)
    (finding,) = diagnosis.findings
    return str(finding.remedy)


@pytest.mark.parametrize(
    ("call", "lines", "array"),
    [
        ("batch, Pairs(images, labels)", (8, 17), "self.images"),
        ("joined, load", (10, 18), "images"),
        ("collected, load", (10, 24), "images"),
    ],
)
def test_items_of_numpy_are_joined_before_they_are_arrays_of_jax(
    session: Session, call: str, lines: tuple[int, int], array: str
) -> None:
    told = remedy_for(session, call)
    assert re.search(rf"one item at a time into arrays of JAX, from cell \d+:{lines[0]} on, and", told)
    assert re.search(rf"cell \d+:{lines[1]} joins them\. .* as {array}\[indices\], and", told)


@pytest.mark.parametrize("call", ["joined, load_there", "joined, mapped", "joined, activated", "added, load"])
def test_what_computes_on_the_device_stays_there(session: Session, call: str) -> None:
    assert "NumPy" not in remedy_for(session, call)
