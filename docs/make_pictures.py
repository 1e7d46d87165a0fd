"""The records behind the README's pictures, and the outputs printed in it, made by running the README.

::

    python docs/make_pictures.py
    JAXMAGIC_PICTURES=write pytest tests/browser/test_readme.py

The first runs the README's blocks of Python in one shell, in order, keeps the record of each magic in
``tests/recorded/readme``, and writes below a block what this run printed. Run it on a quiet machine: reports say so
if it was busy. The second draws the records in Chromium, in light and dark, into ``docs/images``. It alone is needed
where only a report has changed. Nothing is drawn by hand.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from re import Match

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from readme_pictures import BLOCKS, README, keep, magic_of, text_of
from shells import Session, open_shell

import jaxmagic


def run(readme: str, session: Session) -> str:
    """Run all blocks, keep the record of each magic's first one, and return the README with what they printed now."""
    kept = set()

    def written(block: Match[str]) -> str:
        code = block["code"]
        session.run(code)
        magic = magic_of(code)
        if magic is None or magic in kept:
            return block[0]
        kept.add(magic)
        keep(jaxmagic.history()[-1], magic)
        return block[0] if block["output"] is None else f"```python\n{code}```\n\n```text\n{text_of(magic)}\n```"

    return BLOCKS.sub(written, readme)


def main() -> None:
    """Run the README once."""
    os.environ["COLUMNS"] = "80"
    with open_shell() as session:
        readme = run(README.read_text("utf-8"), session)
    README.write_text(readme, "utf-8")


if __name__ == "__main__":
    main()
