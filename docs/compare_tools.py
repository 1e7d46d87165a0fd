"""Asks the same questions about one program of several tools, and writes what each answers into a table.

::

    python -m venv build/tools
    build/tools/bin/pip install . line_profiler memray xprof tokamax
    build/tools/bin/python docs/compare_tools.py

The program looks up 512 of 10,000 vectors by a one-hot product. Each attempt runs once in a fresh IPython
shell. Its seconds are the time from the start of the process to the answer, Python, JAX and one compilation
included. Its steps are the statements, commands and clicks that its user adds to the program.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

_TABLE = Path(__file__).parent / "tables" / "tools.md"

_PROGRAM = """\
import jax, jax.numpy as jnp

@jax.jit
def embed(words, vectors):
    chosen = jax.nn.one_hot(words, len(vectors))
    return jnp.tanh(chosen @ vectors)

words, vectors = jnp.arange(512), jnp.ones((10_000, 64))
embed(words, vectors).block_until_ready()
"""

#: Runs each cell that it reads, and prints the last line of what the last cell printed.
_SHELL = """\
import sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
shell = InteractiveShell.instance()
for cell in sys.stdin.read().split("\\0"):
    with capture_output() as captured:
        result = shell.run_cell(cell)
    if not result.success:
        sys.exit(captured.stdout + captured.stderr)
print("ANSWER", captured.stdout.strip().splitlines()[-1])
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A question asked of a tool.

    Attributes:
        tool: its name, and how it is used.
        cells: what its user runs after the program.
        steps: how many statements, commands and clicks that takes.
        read: a cell that prints the answer in one line. It stands for the user's eyes, so it is no step.
    """

    tool: str
    cells: tuple[str, ...]
    steps: int
    read: str


_TRACE = """\
with jax.profiler.trace("log"):
    for _ in range(10):
        embed(words, vectors).block_until_ready()
"""
_READ_TRACE = """\
import collections, glob, json, re
from xprof.convert.raw_to_tool_data import xspace_to_tool_data
paths = glob.glob("log/**/*.xplane.pb", recursive=True)
rows = len(json.loads(xspace_to_tool_data(paths, "hlo_stats", {})[0])["rows"])
events = json.loads(xspace_to_tool_data(paths, "trace_viewer@", {})[0])["traceEvents"]
ops = collections.Counter()
for event in events:
    if event["ph"] == "X" and re.fullmatch("[a-z][a-z_.0-9-]*", event["name"]):  # XLA's operations, on CPU
        ops[event["name"]] += event["dur"]
name, spent = ops.most_common(1)[0]
print(f"its table of operations has {rows} rows; in its timeline the longest operation is {name}, "
      f"{spent / sum(ops.values()):.0%}, without a line")
"""
_READ_LINES = """\
import re
row = re.compile(r" *[0-9]+ +[0-9]+ +[^ ]+ +[^ ]+ +([0-9.]+) +(.*)")
rows = [row.fullmatch(line.rstrip()) for line in open("lines.txt")]
print("; ".join(f"{float(row[1]):.0f} % {row[2]}" for row in rows if row) or "no line ran: jit had compiled them")
"""
_READ_MEMRAY = """\
import glob, html, json, re
page = open(glob.glob("memray-results/**/*.html", recursive=True)[0]).read()
data = json.loads(re.search("packed_data = ([{].*[}]);", page)[1])
nodes = {name: each for name, each in data["nodes"].items()}
text = lambda name, node: html.unescape(data["strings"][nodes[name][node]])
parts, node = nodes["value"], 0
in_python = sum(size for node, size in enumerate(parts) if text("filename", node).startswith("<ipython"))
while inner := [each for each in nodes["children"][node] if parts[each] > parts[0] / 2]:
    node = inner[0]
print(f"peak {parts[0] / 2**20:.1f} MiB, {in_python / parts[0]:.0%} of it below a line of the cell"
      + (f", most of it in {text('function', node)[:60]}" if node else ""))
"""
QUESTIONS: dict[str, tuple[Attempt, ...]] = {
    "How long does a call take?": (
        Attempt(
            tool="`%timeit` of the call",
            cells=("time = %timeit -q -o embed(words, vectors)",),
            steps=1,
            read='print(f"{time.average * 1e3:.3g} ± {time.stdev * 1e3:.2g} ms")',
        ),
        Attempt(
            tool="`%timeit` with `block_until_ready`",
            cells=("time = %timeit -q -o embed(words, vectors).block_until_ready()",),
            steps=1,
            read='print(f"{time.average * 1e3:.3g} ± {time.stdev * 1e3:.2g} ms")',
        ),
        Attempt(
            tool="tokamax",
            cells=(
                "import tokamax",
                "function, arguments = tokamax.standardize_function(embed, words, vectors)",
                "data = tokamax.benchmark(function, arguments)",
            ),
            steps=3,
            read='import statistics\nprint(f"{statistics.median(data.evaluation_times_ms):.3g} ms; "\n'
            'f"{data.lower_time_ms:.3g} ms lowering, {data.compile_time_ms:.3g} ms compiling")',
        ),
        Attempt(
            tool="`%jaxtimeit`",
            cells=("%load_ext jaxmagic", "%jaxtimeit -q -v time embed(words, vectors)"),
            steps=2,
            read="print(str(time).splitlines()[0])",
        ),
    ),
    "Which line takes the time?": (
        Attempt(
            tool="line_profiler",
            cells=("%load_ext line_profiler", "%lprun -T lines.txt -f embed.__wrapped__ embed(words, vectors)"),
            steps=2,
            read=_READ_LINES,
        ),
        Attempt(
            tool="line_profiler, without jit",
            cells=(
                "%load_ext line_profiler",
                "with jax.disable_jit():\n    %lprun -T lines.txt -f embed.__wrapped__ embed(words, vectors)",
            ),
            steps=3,
            read=_READ_LINES,
        ),
        Attempt(
            tool="XProf",
            cells=(_TRACE,),
            steps=5,
            read=_READ_TRACE,
        ),
        Attempt(
            tool="`%jaxprof`",
            cells=("%load_ext jaxmagic", "%jaxprof -n 10 -q -v profile embed(words, vectors)"),
            steps=2,
            read="import re\n"
            "rows = re.findall(r'(?m)^ *≈?[0-9.]+ .?s +([0-9]+ %) +[0-9]+ +[0-9]+ +(.*)', str(profile))\n"
            "print('; '.join(' '.join(row) for row in rows))",
        ),
    ),
    "How much memory does it need, and for what?": (
        Attempt(
            tool="memray",
            cells=("%load_ext memray", "%%memray_flamegraph\nembed(words, vectors).block_until_ready()"),
            steps=2,
            read=_READ_MEMRAY,
        ),
        Attempt(
            tool="memray, native stacks",
            cells=("%load_ext memray", "%%memray_flamegraph --native\nembed(words, vectors).block_until_ready()"),
            steps=2,
            read=_READ_MEMRAY,
        ),
        Attempt(
            tool="tokamax",
            cells=(
                "import tokamax",
                "function, arguments = tokamax.standardize_function(embed, words, vectors)",
                "data = tokamax.benchmark(function, arguments)",
            ),
            steps=3,
            read='print(f"peak {data.peak_memory_mb:.3g} MB")',
        ),
        Attempt(
            tool="`%jaxmem`",
            cells=("%load_ext jaxmagic", "%jaxmem -q -v memory embed(words, vectors)"),
            steps=2,
            read="words = ' '.join(str(memory).split()).replace('- ', '-')\n"
            "largest = words.partition('argest live buffers:')[2].partition(';')[0]\n"
            "print(f'{words.partition(chr(59))[0]}; largest{largest}')",
        ),
    ),
}


def ask(attempt: Attempt, folder: str) -> tuple[float, str]:
    """Run an attempt in a process and a folder of its own: seconds to the answer, and the answer."""
    cells = "\0".join((_PROGRAM, *attempt.cells, attempt.read))
    environment = {**os.environ, "COLUMNS": "120"}
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _SHELL], input=cells, text=True, capture_output=True, cwd=folder, env=environment
    )
    seconds = time.perf_counter() - start
    answers = [line.removeprefix("ANSWER ") for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    if not answers:
        raise SystemExit(f"{attempt.tool} gave no answer:\n{done.stdout}{done.stderr}")
    return seconds, answers[-1]


def main() -> None:
    """Ask everything, and write the table."""
    tools = ("jax", "IPython", "line_profiler", "memray", "xprof", "tokamax")
    versions = ", ".join(f"{name} {version(name)}" for name in tools)
    lines = [
        "<!-- made by docs/compare_tools.py -->",
        "",
        "# The same questions, asked of several tools",
        "",
        f"{versions}, Python {platform.python_version()}, on {os.cpu_count()} CPUs. The machine was shared: on "
        f"average {os.getloadavg()[2]:.0f} processes were runnable, so compare the seconds only roughly.",
        "",
    ]
    for question, attempts in QUESTIONS.items():
        lines += [f"**{question}**", "", "| tool | steps | seconds | answer |", "| --- | ---: | ---: | --- |"]
        for attempt in attempts:
            with tempfile.TemporaryDirectory() as folder:
                seconds, answer = ask(attempt, folder)
            lines.append(f"| {attempt.tool} | {attempt.steps} | {seconds:.1f} | {answer} |")
            print(lines[-1], flush=True)
        lines.append("")
    _TABLE.write_text("\n".join(lines).rstrip() + "\n", "utf-8")


if __name__ == "__main__":
    main()
