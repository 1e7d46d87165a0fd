"""A report is seen at a glance: the answer, one picture and 400 pixels more; a title opens the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .notebook import Notebook

#: What a report may take beside its picture.
MOST_PIXELS = 400

#: What a picture may take: as many pixels as a screen is high would be no glance.
MOST_OF_A_PICTURE = 560

#: Half a screen, and a telephone, on which a report has 224 pixels.
WIDTH, NARROW = 800, 360

SETUP = """\
%load_ext jaxmagic
import jaxmagic, jax, jax.numpy as jnp, numpy as np

def layer(w, x):
    h = x @ w
    h = jnp.tanh(h)
    h = h * jax.nn.sigmoid(h)
    return h - h.mean()

def loss(ws, x):
    for w in ws:
        x = layer(w, x)
    x = jnp.sort(x)
    return (x * x).sum()

@jax.jit
def step(ws, x):
    grads = jax.grad(loss)(ws, x)
    return [w - 0.1 * g for w, g in zip(ws, grads)]

@jax.jit
def update_cross_section_jacobian(ws, x):
    return step(ws, x)

ws, x, large = [jnp.eye(128)] * 4, jnp.ones((128, 128)), np.ones((2000, 2000), np.float32)
first = update_cross_section_jacobian(ws, x)"""

MAGICS = {
    "jaxtime": "%jaxtime jax.jit(loss)(ws, x); jax.jit(layer)(ws[0], x); jax.jit(step)(ws, x + 1);",
    "jaxtime-long": "%jaxtime update_cross_section_jacobian(ws, x[:64])",
    "jaxtimeit": "%jaxtimeit -r 20 step(ws, x)",
    "jaxcompare": "%%jaxcompare -r 10\none: loss(ws, x)\ntwo: jax.jit(loss)(ws, x)\nthree: jnp.sort(x).sum()",
    "jaxmem": "%jaxmem new = step(ws, x)",
    "jaxprof": "%jaxprof -n 3 new = step(ws, x)",
    "jaxdoctor": "%%jaxdoctor --only recompile\n"
    "for _ in range(3):\n    y = jax.jit(lambda x: jnp.tanh(x @ x))(x)\n    float(y.sum())",
    "jaxdoctor-much": "%%jaxdoctor\ntotals = []\nfor rows in range(100, 106):\n"
    "    y = jnp.asarray(np.ones((rows, 128)))\n"
    "    for w in ws:\n        y = jnp.sort(layer(w, y), axis=0)\n    totals.append(float(y.sum()))\n"
    "    z = jax.jit(lambda q: (q + large).sum())(1.0)\n    for k in range(30):\n        y = y + jnp.sin(y[k])\n"
    "    totals.append(float(y.mean() + z))",
    "history": "jaxmagic.history()",
}

#: The reports without a picture: the parts of a timing are in a bar of its text, and a profile first shows lines of
#: code with their times, and has its pictures in a fold.
WITHOUT_PICTURE = {"jaxtime", "jaxtime-long", "jaxprof"}


@pytest.fixture(scope="module")
def notebook(new_notebook: Callable[..., Notebook], page: Any) -> Notebook:
    page.set_viewport_size({"width": WIDTH, "height": 4000})
    it = new_notebook("glance.ipynb", SETUP, *MAGICS.values())
    it.command("application:toggle-left-area")
    it.run_all()
    return it


@pytest.fixture
def narrow(notebook: Notebook, page: Any) -> Iterator[Notebook]:
    """The notebook in a page that is as narrow as a telephone."""
    page.set_viewport_size({"width": NARROW, "height": 4000})
    yield notebook
    page.set_viewport_size({"width": WIDTH, "height": 4000})


def report(notebook: Notebook, magic: str) -> Any:
    index = 1 + list(MAGICS).index(magic)
    return notebook.cell(index).locator(".jp-RenderedHTMLCommon[data-mime-type='text/html']").first


def visible_heights(it: Any) -> list[float]:
    """The heights of the pictures that are not folded."""
    pictures = it.locator("[data-jaxmagic]")
    boxes = [each.bounding_box() for each in pictures.all() if each.is_visible()]
    return [each["height"] for each in boxes]


@pytest.mark.parametrize("magic", MAGICS)
def test_a_report_is_one_picture_and_four_hundred_pixels(notebook: Notebook, magic: str) -> None:
    it = report(notebook, magic)
    pictures = visible_heights(it)
    assert len(pictures) == (magic not in WITHOUT_PICTURE)
    assert sum(pictures) <= MOST_OF_A_PICTURE
    assert it.bounding_box()["height"] <= sum(pictures) + MOST_PIXELS
    assert it.evaluate("it => it.scrollWidth - it.clientWidth") <= 0, "wider than its place"


@pytest.mark.parametrize("magic", MAGICS)
def test_a_narrow_page_hides_nothing_and_a_report_is_not_longer(narrow: Notebook, magic: str) -> None:
    it = report(narrow, magic)
    scrolled = it.locator("[role=group]").evaluate_all(
        "all => all.filter(n => n.checkVisibility() && n.scrollWidth > n.clientWidth).map(n => n.ariaLabel)"
    )
    assert scrolled == []
    narrow.shoot(it, f"glance-{magic}-narrow")
    pictures = visible_heights(it)
    assert len(pictures) == (magic not in WITHOUT_PICTURE)
    assert sum(pictures) <= MOST_OF_A_PICTURE
    assert it.bounding_box()["height"] <= sum(pictures) + MOST_PIXELS


def rows_of(it: Any) -> list[list[float]]:
    """The upper edges of the cells in each row that is not folded."""
    return [
        [cell.bounding_box()["y"] for cell in row.locator("td").all()]
        for row in it.locator("tr").all()
        if row.is_visible()
    ]


def test_a_candidate_takes_one_row_where_there_is_room(notebook: Notebook) -> None:
    rows = rows_of(report(notebook, "jaxcompare"))
    assert len(rows) == 3
    assert all(len(set(row)) == 1 for row in rows)


def test_what_is_said_of_a_candidate_stands_below_its_time_where_there_is_no_room(narrow: Notebook) -> None:
    _, _, (name, time, verdict) = rows_of(report(narrow, "jaxcompare"))
    assert name == time < verdict


def test_a_long_name_stands_above_its_numbers_where_there_is_no_room(narrow: Notebook) -> None:
    ((name, *numbers, told),) = [row for row in rows_of(report(narrow, "jaxtime-long")) if row]
    assert len(set(numbers)) == 1
    assert name < numbers[0] < told


def test_screenshots(notebook: Notebook) -> None:
    for magic in MAGICS:
        notebook.shoot(report(notebook, magic), f"glance-{magic}-light")
    with notebook.in_the_dark():
        for magic in MAGICS:
            notebook.shoot(report(notebook, magic), f"glance-{magic}-dark")


@pytest.mark.parametrize("magic", ["jaxcompare", "jaxmem", "jaxprof"])
def test_titles_open_by_mouse_and_keyboard_and_pictures_are_then_as_wide_as_the_page(
    notebook: Notebook, magic: str
) -> None:
    it = report(notebook, magic)
    titles = it.locator("summary")
    assert titles.count() >= 1
    for number, title in enumerate(titles.all()):
        inside = title.locator("xpath=following-sibling::div[1]")
        assert not inside.is_visible()
        if number:
            title.focus()
            notebook.page.keyboard.press("Enter")
        else:
            title.click()
        assert inside.is_visible()
        for picture in inside.locator("[data-jaxmagic] > :is(canvas, svg)").all():
            assert picture.bounding_box()["width"] > 300
    notebook.shoot(it, f"glance-{magic}-open")
    for title in titles.all():
        title.click()
    assert not any(each.evaluate("it => it.parentElement.open") for each in titles.all())
