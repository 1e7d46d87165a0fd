"""The scripts of pictures are shortened, but none of their texts is."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from jaxmagic.drawing import scripts

FOLDER = files(scripts)
NAMES = sorted(each.name for each in FOLDER.iterdir() if each.name.endswith(".js"))

#: A text of a script, without values in templates; those with a template inside a value are left out.
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\]|\\.)*`')
VALUE = re.compile(r"\$\{[^{}`]*\}")


def texts(script: str) -> list[str]:
    lines = (line for line in script.splitlines() if not line.strip().startswith("//"))
    found = (VALUE.sub("0", each[0]) for each in TEXT.finditer("\n".join(lines)))
    return [each for each in found if "${" not in each]


@pytest.mark.parametrize("name", NAMES)
def test_no_text_loses_its_spaces(name: str) -> None:
    inside = texts(FOLDER.joinpath(name).read_text(encoding="utf-8"))
    assert inside
    assert [each for each in inside if scripts._SPACED.search(each)] == []
