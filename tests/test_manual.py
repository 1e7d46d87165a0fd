"""The manual and the documents beside it: nothing public is left out, nothing leads nowhere."""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from package_check import AT_THE_TOP, content_problems, link_problems
from release_check import version_problems

import jaxmagic

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


@pytest.fixture
def extensions(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx", reason="Sphinx is installed for the manual")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))


def test_a_notebook_that_the_tests_have_run_is_not_run_again(
    extensions: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from run_notebooks import kept

    (tmp_path / "doctor.ipynb").write_text("{}", "utf-8")
    monkeypatch.delenv("JAXMAGIC_NOTEBOOKS", raising=False)
    assert kept(DOCS / "slow_training.ipynb") is None
    monkeypatch.setenv("JAXMAGIC_NOTEBOOKS", str(tmp_path))
    assert kept(DOCS / "slow_training.ipynb") == tmp_path / "doctor.ipynb"  # the file that the page is a link to
    assert kept(DOCS / "compare.ipynb") is None
    assert kept(DOCS / "doctor.ipynb") is None  # this page is `doctor.md`


def test_every_room_of_public_names_has_a_place_in_the_reference() -> None:
    pages = "".join(path.read_text("utf-8") for path in (DOCS / "reference").glob("*.md"))
    placed = " ".join(re.findall(r"```\{public-names\} (.*)", pages)).split()
    assert sorted(placed) == sorted(set(placed)), "a name stands on one page"
    rooms = {module.partition(".")[0] for module in jaxmagic._PUBLIC.values()}
    assert rooms - set(placed) == set()


def test_every_page_is_in_the_contents() -> None:
    contents = "".join((DOCS / name).read_text("utf-8") for name in ("index.md", "reference/index.md"))
    listed = {line.strip() for line in contents.splitlines()}
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    left_out = {page for page in pages - listed if page.removeprefix("reference/") not in listed}
    assert left_out - {"index"} == {page for page in left_out if page.startswith(("tables/", "recordings/"))}


def test_no_link_leads_nowhere() -> None:
    assert link_problems(ROOT) == []


def test_links_are_markdown_so_that_a_clone_shows_them_too() -> None:
    pages = [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]
    roles = {path: re.findall(r"(?<!`)\{(?:doc|ref|any)\}`", path.read_text("utf-8")) for path in pages}
    assert {path.relative_to(ROOT).as_posix(): found for path, found in roles.items() if found} == {}


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A `title`, twice\n```\n# no title\n```\n", "utf-8")
    (tmp_path / "page.md").write_text(
        "[a](other.md#a-title-twice) [b](other.md#no-title) [c](nothing.md) [d](https://example.com/x)\n", "utf-8"
    )
    assert link_problems(tmp_path) == [
        "page.md: there is no heading other.md#no-title",
        "page.md: there is no nothing.md",
    ]


def test_what_an_archive_lacks_or_holds_besides_is_named(tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    names = ["jaxmagic/a.py", "jaxmagic/py.typed", "tests/t.py", "docs/d.md", "notebooks/data/x.pb", *AT_THE_TOP]
    for each in [*names, "jaxmagic/__pycache__/a.pyc", "dist/old"]:
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text("", "utf-8")
    (tmp_path / "docs/data").symlink_to("../notebooks/data")

    def problems(*, lost: str = "", more: str = "") -> list[str]:
        with zipfile.ZipFile(dist / "p-1.whl", "w") as wheel:
            for each in {*names[:2], "p-1.dist-info/METADATA", more} - {lost, ""}:
                wheel.writestr(each, "")
        with tarfile.open(dist / "p-1.tar.gz", "w:gz") as sdist:
            for each in {*names, "docs/data/x.pb", "PKG-INFO"} - {lost}:
                sdist.add(tmp_path / "dist/old", f"p-1/{each}")
        return content_problems(tmp_path, dist)

    assert problems() == []
    assert problems(lost="jaxmagic/py.typed") == [
        "p-1.whl lacks jaxmagic/py.typed",
        "p-1.tar.gz lacks jaxmagic/py.typed",
    ]
    assert problems(lost="notebooks/data/x.pb") == ["p-1.tar.gz lacks notebooks/data/x.pb"]
    assert problems(lost="LICENSE") == ["p-1.tar.gz lacks LICENSE"]
    assert problems(more="tests/t.py") == ["p-1.whl holds tests/t.py, which is not a source file"]


def release(folder: Path, version: str, entry: str, cited: str) -> list[str]:
    (folder / "jaxmagic").mkdir(exist_ok=True)
    (folder / "jaxmagic" / "version.py").write_text(f'__version__ = "{version}"\n', "utf-8")
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## {entry}\n\n## [0.0.1] - 2026-01-01\n", "utf-8")
    (folder / "CITATION.cff").write_text(f"cff-version: 1.2.0\nversion: {cited}\n", "utf-8")
    return version_problems(folder)


def test_version_changelog_and_citation_have_to_agree(tmp_path: Path) -> None:
    assert release(tmp_path, "0.2.0", "[0.2.0] - 2026-12-31", "0.2.0") == []
    assert release(tmp_path, "0.2.0", "[0.1.0] - unreleased", "0.1.0") == [
        "jaxmagic/version.py has 0.2.0, the newest entry of CHANGELOG.md is 0.1.0",
        "CHANGELOG.md: expected a date such as 2026-01-31 for 0.1.0, got 'unreleased'",
        "jaxmagic/version.py has 0.2.0, CITATION.cff has 0.1.0",
    ]


def test_between_releases_only_the_date_is_missing() -> None:
    assert [each for each in version_problems(ROOT) if "expected a date" not in each] == []


def test_the_command_of_the_issue_form_runs(capsys: pytest.CaptureFixture[str]) -> None:
    form = (ROOT / ".github" / "ISSUE_TEMPLATE" / "problem.yml").read_text("utf-8")
    (command,) = re.findall(r'python -c "(.*)"`', form)
    exec(command, {})
    assert capsys.readouterr().out.startswith(f"Environment(jaxmagic='{jaxmagic.__version__}'")


def test_a_search_has_to_find_a_main_entry_of_its_page(extensions: None) -> None:
    from searched import missing

    entries = {
        "a": [("single", "OOM", "index-0", "", None), ("single", "slow", "index-0", "", None)],
        "b": [("single", "OOM", "index-0", "main", None)],
    }
    assert missing(entries, {"OOM": "b"}) == []
    assert missing(entries, {"slow": "a", "fast": "b", "OOM": "c"}) == [
        "'slow' does not lead to a",
        "'fast' does not lead to b",
        "'OOM' does not lead to c",
    ]


def test_every_guide_says_what_people_search_for() -> None:
    guides = sorted((DOCS / "how-to").glob("*.md"))
    assert [each.stem for each in guides if "\n```{index} ! " not in each.read_text("utf-8")] == []


def test_each_page_that_a_search_has_to_find_is_there(extensions: None) -> None:
    from searched import QUERIES

    assert {page for page in QUERIES.values() if not (DOCS / f"{page}.md").exists()} == set()


def test_a_head_without_text_is_none_and_a_caption_is_a_heading_of_a_level(extensions: None) -> None:
    from accessible import mended

    heads = '<th class="head"><p></p></th><th></th><th class="blank level0" >&nbsp;</th><th>x</th>'
    assert mended(heads) == "<td></td>" * 3 + "<th>x</th>"
    caption = '<p class="caption" role="heading">'
    assert mended(caption) == '<p class="caption" role="heading" aria-level="2">'


def test_options_in_a_table_are_code_wherever_they_stand(extensions: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "from_code", raising=False)
    from from_code import option_table

    table = "\n".join(option_table("jaxmem"))
    assert "| `--map`, `--no-map` | Read the memory map of each program; `--no-map` skips that. |" in table
    assert "`--pprof=FILE` also writes" in table


def test_the_readme_has_to_name_magics_and_only_options_that_exist(
    extensions: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "from_code", raising=False)
    from from_code import problems_of_readme

    options: dict[str, Any] = {"jaxtime": {"-q", "--fetch"}, "jaxmem": {"--no-map"}}
    readme = "# %jaxtime\n\n```\n%%jaxtime -q --fetch f()\n```\n`pip install --editable .` `--no-map` `--maps`\n"
    assert problems_of_readme(readme, options) == [
        "does not name %jaxmem",
        "names the option --maps, which no magic has",
    ]


def test_a_live_view_becomes_what_it_shows_below_the_names_of_its_controls(extensions: None) -> None:
    from still_views import still_view

    def model(children: tuple[str, ...] = (), **state: Any) -> dict[str, Any]:
        return {"state": {"children": [f"IPY_MODEL_{each}" for each in children], **state}}

    shown = [{"data": {"text/html": "<b>picture</b>", "text/plain": "a view"}}]
    models = {
        "view": model(("row", "out")),
        "row": model(("show", "program", "unit")),
        "show": {"state": {"description": "Show"}},
        "program": {"state": {"description": "Program", "layout": "IPY_MODEL_hidden"}},
        "hidden": {"state": {"display": "none"}},
        "unit": {"state": {"description": "Unit"}},
        "out": model(outputs=shown),
        "closed": model(description="A progress bar"),
    }
    shows = "<p>In a notebook, this view has controls: Show, Unit.</p><b>picture</b>"
    assert still_view(models, "view") == f'<div class="still-view">{shows}</div>'
    assert still_view(models, "closed") == still_view(models, "lost") == ""
