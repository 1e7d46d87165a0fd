"""Write ``docs/tables/verdicts.md``: how often verdicts and intervals are right, on noise whose truth is known.

``make tables`` runs this. The file carries a digest of the code that made it, and a test compares that.
"""

from __future__ import annotations

import ast
import hashlib
import io
import sys
import tokenize
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import simulated
from simulated import Noise, Rates, power, rates

ROOT = Path(__file__).parents[1]

#: What the rates depend on.
SOURCES = (
    "jaxmagic/benchmarking/record/in_turns.py",
    "jaxmagic/benchmarking/record/versus.py",
    "jaxmagic/comparison/record/verdict.py",
    "jaxmagic/comparison/record/floors.py",
    "jaxmagic/comparison/record/fastest.py",
    "jaxmagic/statistics/medians.py",
    "jaxmagic/benchmarking/capture/plan.py",
    "jaxmagic/benchmarking/capture/stopping.py",
    "jaxmagic/comparison/capture/turns.py",
    "tests/simulated.py",
)

COUNTS = (6, 20, 100, 400)

HEAD = """\
| noise | n | rounds | estimate | ratio covered | equals called | one named | samples | median covered | silent |
| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |
"""


def code_of(source: str) -> str:
    """The code alone, without docstrings, comments, imports and white space; marks show where blocks begin or end."""
    left_out = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines, marks = source.splitlines(), defaultdict[int, str](str)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line, column = token.start
        if token.type == tokenize.COMMENT:
            lines[line - 1] = lines[line - 1][:column]
        marks[line] += {tokenize.INDENT: ">", tokenize.DEDENT: "<"}.get(token.type, "")
    code = ("" if number in left_out else "".join(line.split()) for number, line in enumerate(lines, 1))
    return "".join(f"{marks[number]}{line}" for number, line in enumerate(code, 1))


def digest() -> str:
    """What stands for the code that makes the table."""
    code = "".join(code_of((ROOT / name).read_text()) for name in SOURCES)
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def row(name: str, count: int, found: Rates) -> str:
    """A line of the table."""
    shares = (found.covered, found.called, found.alone)
    singles = (found.median_covered, found.silent)
    cells = [
        *(name, str(count), str(found.rounds), f"{found.estimate:.4f} ±{2 * found.spread:.4f}"),
        *(f"{each:.3f}" for each in shares),
        str(found.samples),
        *(f"{each:.3f}" for each in singles),
    ]
    return f"| {' | '.join(cells)} |"


def _rates(arguments: tuple[str, str, int, int]) -> Rates:
    noises, name, count, runs = arguments
    return rates(getattr(simulated, noises)[name], count, runs)


def table(noises: str, runs: int, pool: ProcessPoolExecutor) -> str:
    """All rows of a set of noises."""
    chosen: Mapping[str, Noise] = getattr(simulated, noises)
    cells = [(noises, name, count, runs) for name in chosen for count in COUNTS]
    found = pool.map(_rates, cells)
    return HEAD + "\n".join(row(name, count, each) for (_, name, count, _), each in zip(cells, found, strict=True))


def main(runs: int) -> None:
    """Write the file."""
    with ProcessPoolExecutor() as pool:
        powers = [pool.submit(power, 0.05, rounds, others, runs) for rounds, others in ((15, 1), (22, 5))]
        first, second, unseen = (table(noises, runs, pool) for noises in ("FIRST", "SECOND", "UNSEEN"))
        two, six = (each.result() for each in powers)
    text = f"""\
<!-- made by tests/verdict_table.py from {digest()} -->

{runs:,} runs of each row.

{first}

The same on noise that was made up when the code had been written:

{second}

What no interval of a single median knows is a state of the machine that does not occur while samples are taken. Here
another process makes 15 % of the calls a third slower, for twenty calls at a time:

{unseen}

A candidate that is 5 % slower, under 3 % of normal noise, is called so within 15 rounds in {two:.1%} of comparisons
of two, and within 22 rounds in {six:.1%} of comparisons of six.
"""
    path = ROOT / "docs" / "tables" / "verdicts.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    print(f"{path.relative_to(ROOT)} is written")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
