"""What has to hold of the package at any time, between releases as well: ``make package-check``, in seconds.

Run from the root of the repository, with ``dist`` holding one wheel and one sdist, and with an interpreter that has
``readme_renderer``.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent

#: Pages whose links are checked; notebooks are links themselves.
_PAGES = "*.md", "docs/*.md", "docs/*/*.md"

#: Folders whose files are all in the sdist, and files at the top that are.
_FOLDERS = "jaxmagic", "tests", "docs", "notebooks"
AT_THE_TOP = "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "noxfile.py", "pyproject.toml"

#: Parts of paths that tools write and Git ignores.
_WRITTEN = frozenset({"__pycache__", ".ipynb_checkpoints", "build", "dist", "generated", "jupyter_execute"})


def main() -> int:
    """Run all checks; print every problem."""
    return run(
        {
            "links lead somewhere": lambda: link_problems(ROOT),
            "README renders": readme_problems,
            "wheel and sdist hold what they should": lambda: content_problems(ROOT, ROOT / "dist"),
        }
    )


def run(checks: dict[str, Callable[[], list[str]]]) -> int:
    """Run checks by their names, and print every problem; return 1 if there is one."""
    bad = 0
    for name, check in checks.items():
        problems = check()
        print("ok   " if not problems else "WRONG", name, flush=True)
        for each in problems:
            print(f"      {each}")
        bad += len(problems)
    return min(bad, 1)


def link_problems(root: Path) -> list[str]:
    """Look for links from pages to files that do not exist, or to headings that those do not have."""
    pages = sorted({path for pattern in _PAGES for path in root.glob(pattern)})
    return [f"{page.relative_to(root)}: {problem}" for page in pages for problem in _dead_links(page)]


def _dead_links(page: Path) -> Iterator[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        path = page if not name else page.parent / name
        if not path.exists():
            yield f"there is no {target}"
        elif heading and heading not in _headings(path):
            yield f"there is no heading {target}"


def _headings(path: Path) -> set[str]:
    """The anchors that GitHub and MyST give to headings."""
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def readme_problems() -> list[str]:
    """Render the README as PyPI does."""
    from readme_renderer import markdown

    html = markdown.render((ROOT / "README.md").read_text("utf-8"))
    return [] if html and "<h1" in html else ["readme_renderer cannot render README.md"]


def content_problems(root: Path, dist: Path) -> list[str]:
    """Compare the files in the wheel and in the sdist with those in the folders that they are made of."""
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        held = [name for name in archive.namelist() if not re.match(r"[^/]+\.dist-info/", name)]
    problems = _differences(wheel.name, held, _files(root, ["jaxmagic"]))
    with tarfile.open(sdist) as archive:
        names = [member.name.partition("/")[2] for member in archive.getmembers() if not member.isdir()]
    held = [name for name in names if "/" in name or name in AT_THE_TOP]
    return problems + _differences(sdist.name, held, [*_files(root, _FOLDERS), *AT_THE_TOP])


def _differences(archive: str, held: Iterable[str], expected: Iterable[str]) -> list[str]:
    there, needed = set(held), set(expected)
    return [
        *(f"{archive} lacks {each}" for each in sorted(needed - there)),
        *(f"{archive} holds {each}, which is not a source file" for each in sorted(there - needed)),
    ]


def _files(root: Path, folders: Iterable[str]) -> Iterator[str]:
    """Yield the files in folders, also of folders that are links, without what tools write."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.is_dir() and path.is_symlink():
                yield from (f"{path.relative_to(root).as_posix()}/{each.name}" for each in path.iterdir())
            elif not path.is_dir() and not _WRITTEN & set(path.parts[len(root.parts) :]):
                yield path.relative_to(root).as_posix()


if __name__ == "__main__":
    sys.exit(main())
