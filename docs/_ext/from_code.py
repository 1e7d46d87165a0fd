"""Directives that write pages from the code, so that the two cannot drift apart.

- ``public-names SUBJECT...``: a page of the reference, from the table of public names in ``jaxmagic/__init__.py``;
- ``magics``: every magic with its description and its options, from its parser;
- ``magic-options NAME``: the options of one magic;
- ``settings``: what ``%config JaxMagics`` knows, from its traits;
- ``record-fields MODULE.CLASS``: the fields of a record, from its declaration and its docstring;
- ``source-files``: every file of the package with the first line of its docstring, under its room's law;
- ``rules``: the rules of ``%jaxdoctor``, from what each says of itself;
- ``import-rules``: the layers and the bans of the import contract in ``pyproject.toml``.

When the pages are built, it is also checked that the README names every magic, and no option that does not exist.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Set
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import jaxmagic
from jaxmagic.doctor.rules.all import RULES
from jaxmagic.magics.declare import JaxMagics, declared
from jaxmagic.subjects import magics

_PACKAGE = Path(jaxmagic.__file__).parent
_ROOT = Path(__file__).parent.parent.parent

_log = logging.getLogger(__name__)


class FromCode(SphinxDirective):
    """A directive that stands for the Markdown that :meth:`lines` gives."""

    def lines(self) -> Iterable[str]:
        """The Markdown, line by line."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Called by Sphinx: parse the lines as if they stood in the page."""
        holder = nodes.section()
        self.state.nested_parse(StringList(list(self.lines()), "from_code"), 0, holder, match_titles=True)
        return holder.children


class PublicNames(FromCode):
    """A page of the reference: the public names of some subjects and rooms."""

    required_arguments = 1
    final_argument_whitespace = True

    def lines(self) -> Iterator[str]:
        """A part for each kind of name, in the order of the table."""
        rooms = self.arguments[0].split()
        names = [name for name, module in jaxmagic._PUBLIC.items() if module.partition(".")[0] in rooms]
        for part, group in groupby(sorted(names, key=lambda name: _PARTS.index(_part(name))), _part):
            yield from ("", f"## {part}", "", "```{eval-rst}")
            if part == "Errors":
                yield from (".. automodule:: jaxmagic.errors", "   :no-members:", "")
            for name in group:
                kind = "class" if inspect.isclass(getattr(jaxmagic, name)) else "function"
                yield f".. auto{kind}:: jaxmagic.{name}"
                if part == "Records":
                    yield from ("   :members:", "   :inherited-members:")
                elif part == "Errors":
                    yield "   :show-inheritance:"
                yield ""
            yield "```"


class AllMagics(FromCode):
    """The reference of the magics."""

    def lines(self) -> Iterator[str]:
        """A part for each magic: its description, and a table of its options."""
        for name in magics():
            title, _, rest = inspect.cleandoc(declared(name).parser.description).partition("\n\n")
            in_a_line = f"%{name} [" in rest
            yield from ("", f"## `{'%' if in_a_line else '%%'}{name}`", "", title.replace("``", "`"), "")
            yield from _as_markdown(rest)
            yield from ("", *option_table(name))


class MagicOptions(FromCode):
    """The options of one magic."""

    required_arguments = 1

    def lines(self) -> Iterator[str]:
        """A table."""
        return option_table(self.arguments[0])


class Settings(FromCode):
    """The settings of all magics."""

    def lines(self) -> Iterator[str]:
        """A table."""
        traits = JaxMagics.class_traits(config=True).items()
        rows = [(f"`{name}`", f"`{each.default_value!r}`", each.help) for name, each in traits]
        return _table(("Setting", "Default", "What it does"), rows)


class RecordFields(FromCode):
    """The fields of one record."""

    required_arguments = 1

    def lines(self) -> Iterator[str]:
        """A table of what is stored, and then of what is derived."""
        module, _, name = self.arguments[0].rpartition(".")
        record = getattr(import_module(module), name)
        about = _attributes(inspect.getdoc(record) or "")
        rows = [(f"`{each.name}`", f"`{each.type}`", about.get(each.name, "")) for each in dataclasses.fields(record)]
        for each, value in vars(record).items():
            if isinstance(value, property) and not each.startswith("_"):
                kind = inspect.get_annotations(value.fget)["return"]
                rows.append((f"`{each}`", f"`{kind}`, derived", inspect.getdoc(value)))
        return _table(("Field", "Type", "What it is"), rows)


class SourceFiles(FromCode):
    """Every file of the package."""

    def lines(self) -> Iterator[str]:
        """A table for the package and one for each folder, under what its ``__init__`` says of it."""
        for folder in sorted(path.parent for path in _PACKAGE.rglob("__init__.py")):
            where = "" if folder == _PACKAGE else f"{folder.relative_to(_PACKAGE).as_posix()}/"
            yield from ("", f"### `{where or 'jaxmagic/'}`", "")
            if where:
                yield from (*_docstring(folder / "__init__.py").splitlines(), "")
            files = sorted(path for path in folder.glob("*.py") if not (where and path.name == "__init__.py"))
            if files:
                yield from _table(("File", ""), [(f"`{path.name}`", _first_line(path)) for path in files])


class Rules(FromCode):
    """The rules of ``%jaxdoctor``."""

    def lines(self) -> Iterator[str]:
        """A part for each rule: what it looks for, how it decides, and its source."""
        for rule in RULES:
            yield from ("", f"### `{rule.name}`", "", f"Looks for {rule.looks_for}.", "")
            yield from (rule.decides, "", f"Source: <{rule.source}>" if "://" in rule.source else rule.source)


class ImportRules(FromCode):
    """The import contract."""

    def lines(self) -> Iterator[str]:
        """The layers of each contract as a diagram, and what others forbid in a sentence."""
        contracts = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
        for contract in contracts:
            if contract["type"] == "layers":
                yield from (f"{contract['name']}:", "", "```text", *contract["layers"], "```", "")
                continue
            sources, banned = (
                " or ".join(f"`{each.rpartition('.')[2]}`" for each in contract[f"{kind}_modules"])
                for kind in ("source", "forbidden")
            )
            yield from (f"{contract['name']}: no {sources} imports {banned}.", "")


#: The headings of a page of the reference, in order.
_PARTS = ("Functions", "Records", "Errors", "Extension")


def _part(name: str) -> str:
    """The heading under which a public name stands."""
    module = jaxmagic._PUBLIC[name]
    if module in ("errors", "extension"):
        return module.capitalize()
    return "Functions" if inspect.isfunction(getattr(jaxmagic, name)) else "Records"


def _options(magic: str) -> list[Any]:
    return list(declared(magic).parser._actions)


def option_table(magic: str) -> Iterator[str]:
    """A row for each option of a magic, from its parser."""
    rows = []
    for option in _options(magic):
        value = f"[{option.metavar}]" if option.nargs == "?" else option.metavar
        words = [f"{name} {value}" if value else name for name in option.option_strings]
        help_text = re.sub(r"(?<![\w`-])--?[a-z][\w-]*(=\w+)?", r"`\g<0>`", option.help or "")
        rows.append((", ".join(f"`{each}`" for each in words), help_text))
    return _table(("Option", "What it does"), rows)


def _as_markdown(text: str) -> Iterator[str]:
    """Paragraphs of a docstring; an indented one after ``::`` is code."""
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("    "):
            yield from ("```text", *inspect.cleandoc(paragraph).splitlines(), "```", "")
        else:
            yield from (*paragraph.replace("::", ":").replace("``", "`").splitlines(), "")


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    names = list(head)
    yield "| " + " | ".join(names) + " |"
    yield "|" + " --- |" * len(names)
    for row in rows:
        yield "| " + " | ".join(_cell(each) for each in row) + " |"
    yield ""


def _cell(value: object) -> str:
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", str(value)).replace("``", "`")
    return " ".join(text.split()).replace("|", "\\|")


def _attributes(docstring: str) -> dict[str, str]:
    """The section ``Attributes:`` of a docstring in Google's style."""
    section = docstring.partition("Attributes:\n")[2]
    found = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", section, re.M)
    return {name: " ".join(text.split()) for name, text in found}


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""


def _first_line(path: Path) -> str:
    return " ".join(_docstring(path).partition("\n\n")[0].split())


def _check_readme(app: Sphinx) -> None:
    readme = (_ROOT / "README.md").read_text("utf-8")
    for problem in problems_of_readme(readme, {name: _option_names(name) for name in magics()}):
        _log.warning("README.md %s", problem)


def problems_of_readme(readme: str, options: Mapping[str, Set[str]]) -> list[str]:
    """The magics that a README does not name, and the options that it names and no magic has."""
    missing = [f"does not name %{magic}" for magic in options if not re.search(rf"%{magic}\b", readme)]
    named = {word for line in re.findall(r"^%%?jax\w+ .*|`-[^`\n]*`", readme, re.M) for word in _WORDS.findall(line)}
    unknown = sorted(named - set().union(*options.values()))
    return missing + [f"names the option {each}, which no magic has" for each in unknown]


#: An option with a long name, as it stands in text.
_WORDS = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")


def _option_names(magic: str) -> set[str]:
    return {name for option in _options(magic) for name in option.option_strings}


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("public-names", PublicNames)
    app.add_directive("magics", AllMagics)
    app.add_directive("magic-options", MagicOptions)
    app.add_directive("settings", Settings)
    app.add_directive("record-fields", RecordFields)
    app.add_directive("source-files", SourceFiles)
    app.add_directive("import-rules", ImportRules)
    app.add_directive("rules", Rules)
    app.connect("builder-inited", _check_readme)
    return {"parallel_read_safe": True}
