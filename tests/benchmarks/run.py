"""The benchmarks: ``python tests/benchmarks/run.py [--quick]``, or ``make bench``.

They print figures and judge none: nothing here fails because a machine is slow. Candidates of one table are
measured in one run, interleaved, in an order that is shuffled for each round; where two are compared, it is
round by round. What follows a ± is half of the distance between the quartiles.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from statistics import median
from typing import Any

from child import ask
from lines_table import HEAD, cells
from loading import HEAVY, OTHERS, heavy_imports, load_times
from tables import show, spread, uncertainty

DEVICES = 4

_TRUTH_HEAD = (
    "computation|statement|loop|loop/loop|%time/loop|%jaxtime/loop|by hand|%jaxtime - by hand|%jaxtime/by hand||n"
)

#: The row that is not about what the magic says.
_NO_MAGIC = "by hand, no magic"

PARTS = (
    *(
        "truth",
        "overhead",
        "loading",
        "short",
        "call",
        "fence",
        "repeat",
        "ratios",
        "launches",
        "sampling",
        "map",
        "page",
    ),
    *("profile", "lines", "elements", "unrolled"),
)


def main() -> None:
    """Measure and print everything, or some of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: to see that it runs")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS, help="some of the tables")
    arguments = parser.parse_args()
    quick = arguments.quick
    started = time.monotonic()
    print(
        f"JAX {version('jax')}, IPython {version('ipython')}, Python {platform.python_version()}, "
        f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.2f}"
    )
    parts: dict[str, Callable[[], None]] = {
        "truth": lambda: truthfulness(quick),
        "overhead": lambda: overhead(60 if quick else 300),
        "loading": lambda: loading(1 if quick else 7),
        "short": lambda: short_code(2 if quick else 9, 5 if quick else 30),
        "call": lambda: jitted_call(10 if quick else 60),
        "fence": lambda: idle_fence(100 if quick else 1000),
        "repeat": lambda: repeated(3 if quick else 25),
        "ratios": lambda: real_ratios(2 if quick else 10),
        "launches": lambda: launched(4, 0.3) if quick else launched(40, 1.0),
        "sampling": lambda: sampling(10 if quick else 150),
        "map": lambda: memory_map(3 if quick else 15, [800] if quick else [800, 2400, 7600, 24_000, 77_000]),
        "page": lambda: page([1000] if quick else [1000, 3000, 10_000]),
        "lines": lambda: slow_lines(6 if quick else 21),
        "elements": lambda: elements(3 if quick else 25),
        "unrolled": lambda: unrolled(1 if quick else 2, [12] if quick else [12, 24, 64]),
        "profile": lambda: profiling(2 if quick else 7, [20_000] if quick else [40_000, 400_000, 4_000_000]),
    }
    for name in arguments.only:
        parts[name]()
    print(f"\nTook {time.monotonic() - started:.0f} s; load at the end {os.getloadavg()[0]:.2f}.")


def truthfulness(quick: bool) -> None:
    """Reported wall time over the truth."""
    option = ["--quick"] if quick else []
    rows = ask("truth.py", "matmul", "sort", "scan", *option)
    rows += ask("truth.py", "sharded", "sort", *option, devices=DEVICES)
    show(
        "Truthfulness: the wall time that %jaxtime reports, beside the same call timed by hand (medians; µs)",
        _TRUTH_HEAD.split("|"),
        [_truth_row(row) for row in rows],
        [
            "by hand: in a cell of the magic, which meets what the magic meets. The loop, from its second pass on, "
            "finds threads awake and caches warm.",
            "the run by hand: what the magic reports of that very run, beyond what was found by hand in it.",
            "by hand, no magic: the same in a bare cell.",
            "%jaxtime - by hand and the ratio: with the 95 % interval of the median.",
            "loop/loop: the loop over the one before it, ± half the distance of its quartiles: the machine's noise.",
            "sort, 4 devices: on one device of four, where waiting for everything costs more.",
            "Wanted: a ratio of 0.97 to 1.03 from 1 ms on, at most 5 µs of difference below.",
            "ok, no: the median is within that, or is not; a question mark: the noise is too large to tell.",
        ],
    )
    verdicts = Counter(_verdict(row) for row in rows if row["statement"] != _NO_MAGIC)
    print("In all: " + ", ".join(f"{verdicts[each]} {each}" for each in ("ok", "no", "?")) + ".")


def _truth_row(row: dict[str, Any]) -> list[str]:
    beyond, by_hand = row["beyond_ns"], row["by_hand_ns"]
    uncertain = uncertainty(beyond) or 0
    return [
        f"{row['name']}, {row['devices']} devices" if row["devices"] > 1 else row["name"],
        row["statement"],
        f"{row['loop_ns'] / 1e3:.1f}",
        spread(row["neighbours"], ".2f"),
        *(f"{row[each]:.3f}" if each in row else "" for each in ("time_ratio", "loop_ratio")),
        f"{by_hand / 1e3:.1f}",
        f"{median(beyond) / 1e3:+.1f} ±{uncertain / 1e3:.1f}",
        f"{1 + median(beyond) / by_hand:.3f} ±{uncertain / by_hand:.3f}",
        "" if row["statement"] == _NO_MAGIC else _verdict(row),
        str(len(beyond)),
    ]


def _verdict(row: dict[str, Any]) -> str:
    """Whether the median keeps to what is wanted."""
    most = 5000 if row["by_hand_ns"] < 0.8e6 else 0.03 * row["by_hand_ns"]
    uncertain = uncertainty(row["beyond_ns"])
    if uncertain is None:
        return "?"
    far = abs(median(row["beyond_ns"]))
    return "ok" if far + uncertain <= most else "no" if far - uncertain > most else "?"


def overhead(rounds: int) -> None:
    """What a cell costs."""
    durations = ask("overhead.py", rounds)
    base = durations["%time f(x)"]
    ours, theirs = _beyond("%jaxtime f(x)", "%time f(x)", durations), _beyond("%time f(x)", "f(x)", durations)
    show(
        "Overhead: a whole cell, and beyond %time f(x) in the same round (µs; wanted: under 1000)",
        ["cell", "took", "beyond %time", "n"],
        [
            [
                cell,
                spread([each / 1e3 for each in took], ".0f"),
                spread([(each - other) / 1e3 for each, other in zip(took, base, strict=True)], ".0f"),
                str(len(took)),
            ]
            for cell, took in durations.items()
        ],
        [
            f"%time itself costs {theirs:.0f} µs here beyond f(x); 400 µs where "
            "the aim was set. Scaled to that, %jaxtime costs "
            f"{400 * ours / theirs:.0f} µs beyond %time."
        ],
    )


def _beyond(cell: str, other: str, durations: dict[str, list[int]]) -> float:
    """Median difference of two cells in the same round, in microseconds."""
    return median((each - base) / 1e3 for each, base in zip(durations[cell], durations[other], strict=True))


def loading(rounds: int) -> None:
    """What loading costs and imports."""
    times = load_times(rounds)
    show(
        "Loading: %load_ext with JAX imported, in fresh interpreters (ms; wanted: under 20)",
        ["extension", "took", "n"],
        [
            [name, spread([each / 1e6 for each in times[name]]), str(len(times[name]))]
            if name in times
            else [name, "not installed", ""]
            for name in ("jaxmagic", *OTHERS)
        ],
    )
    show(
        f"Imports: which of {', '.join(HEAVY)} come with it, in a fresh interpreter (wanted: none)",
        ["statement", "imported"],
        [[what, ", ".join(names) or "none"] for what, names in heavy_imports().items()],
    )


def short_code(sessions: int, rounds: int) -> None:
    """What looking at short code costs."""
    loads = [ask("short.py", "load", "") / 1e6 for _ in range(sessions)]
    show(
        "Loading the extension, in fresh interpreters (ms; wanted: under 20)",
        ["cell", "took", "n"],
        [["%load_ext jaxmagic", spread(loads, ".1f"), str(sessions)]],
    )
    rows = []
    for magic in ("%jaxtime", "%jaxmem", "%jaxprof"):
        found = [ask("short.py", "first", magic) for _ in range(sessions)]
        first, second = ([each[which] / 1e6 for each in found] for which in ("first", "second"))
        rows.append([magic, spread(first, ".0f"), spread(second, ".1f"), str(sessions)])
    show(
        "The first magic of a session that has used JAX, in fresh interpreters (ms; wanted of %jaxtime: under 100)",
        ["magic", "first cell", "second cell", "n"],
        rows,
    )
    took = ask("short.py", "cells", rounds)
    base = took["pass"]
    show(
        "Short cells (ms; wanted: %jaxmem 1 beyond pass, %%jaxprof of 200 calls in 0.1 s under 1000)",
        ["cell", "took", "beyond pass", "n"],
        [
            [
                cell.replace("\n", " ⏎ "),
                spread([each / 1e6 for each in times], ".2f"),
                spread([(each - other) / 1e6 for each, other in zip(times, base, strict=True)], ".2f"),
                str(len(times)),
            ]
            for cell, times in took.items()
        ],
    )


def jitted_call(rounds: int) -> None:
    """What a jitted call costs while nothing is measured."""
    found = ask("jitted_call.py", rounds)
    base = found["after %unload_ext"]
    show(
        "A jitted call while nothing is measured (µs; wanted: no difference)",
        ["state", "took", "over after %unload_ext", "n"],
        [
            [
                state,
                spread([each / 1e3 for each in took], ".2f"),
                spread([each / other for each, other in zip(took, base, strict=True)], ".3f"),
                str(len(took)),
            ]
            for state, took in found.items()
        ],
    )


def repeated(rounds: int) -> None:
    """Benchmarks beside %timeit and a loop by hand, and comparisons of a function with itself."""
    found = ask("repeat.py", rounds)
    rows = []
    for row in found["timeit"]:
        ours, theirs = ([list(each) for each in zip(*row[who], strict=True)] for who in ("ours", "theirs"))
        # A width falls with the square root of the time: so long would ours take for the width of theirs.
        equal = [
            their_ns / (our_ns * (our_width / their_width) ** 2)
            for (our_ns, our_width), (their_ns, their_width) in zip(row["ours"], row["theirs"], strict=True)
        ]
        rows.append(
            [
                f"{row['target_ms']} ms",
                spread([each / 1e9 for each in theirs[0]], ".2f"),
                spread([each / 1e9 for each in ours[0]], ".2f"),
                f"{median(a / b for a, b in zip(theirs[0], ours[0], strict=True)):.1f}",
                spread([100 * each for each in theirs[1]], ".2f"),
                spread([100 * each for each in ours[1]], ".2f"),
                f"{median(equal):.1f}",
                str(len(equal)),
            ]
        )
    show(
        "Time to an answer: a matmul of that length (s; width: half the 95 % interval in per cent)",
        [
            "call",
            "%timeit",
            "%jaxtimeit",
            "times sooner",
            "%timeit width",
            "%jaxtimeit width",
            "sooner at equal width",
            "n",
        ],
        rows,
        ["Wanted: at least 5 times sooner. The interval of %timeit is Student's, of the mean of its seven runs."],
    )
    show(
        "Bias: samples of jaxmagic.benchmark() over those of a hand-written loop, taken in turns",
        ["call", "by hand (µs)", "ratio (median and its 95 % interval)", "n"],
        [
            [
                f"{row['target_ms']} ms",
                f"{row['loop_ns'] / 1e3:.1f}",
                f"{median(row['ratios']):.4f} ±{uncertainty(row['ratios']) or 0:.4f}",
                str(len(row["ratios"])),
            ]
            for row in found["loop"]
        ],
        ["Wanted: within 1 % from 1 ms on."],
    )
    itself = found["itself"]
    show(
        "A against A: verdicts on a matmul of 1 ms beside itself (wanted: at most 5 of 100 faster or slower)",
        ["faster", "slower", "no difference", "too noisy to tell"],
        [[str(itself.get(each, 0)) for each in ("faster", "slower", "no difference", "too noisy to tell")]],
    )


def unrolled(times: int, rounds: list[int]) -> None:
    """What loops of JAX spare of compiling, beside what is promised without a trial."""
    rows = ask("unrolled.py", times, *rounds)
    show(
        "Unrolled loops: what a scan spares of their compiling, beside what unrolled-loop promises (fastest; s)",
        ["loop", "iterations", "unrolled", "scan", "spared", "promised"],
        [
            [
                row["name"],
                str(row["rounds"]),
                f"{row['unrolled_ns'] / 1e9:.2f}",
                f"{row['scanned_ns'] / 1e9:.2f}",
                f"{1 - row['scanned_ns'] / row['unrolled_ns']:.0%}",
                f"{row['promised_ns'] / row['unrolled_ns']:.0%}",
            ]
            for row in rows
        ],
    )


def launched(processes: int, budget_s: float) -> None:
    """Records of different processes beside each other, with and without a planted difference."""
    found = ask("launches.py", processes, budget_s)
    rows, total = [], [0, 0]
    for row in found["rows"]:
        false, pairs = row["alarms"]
        if row["size"] == 1:
            total = [total[0] + false, total[1] + pairs]
        cells = [
            f"{ratio:.2f}x: {100 * calls / count:.0f} ({100 * predicted:.0f})"
            for ratio, predicted, (calls, count) in zip(row["ratios"], row["predicted"], row["found"], strict=True)
        ]
        low, high = min(row["medians_ns"]) / 1e3, max(row["medians_ns"]) / 1e3
        rows.append(
            [
                row["name"],
                str(row["size"]),
                f"{low:.1f} to {high:.1f}",
                f"{100 * row['within']:.1f}",
                f"{100 * row['between']:.1f}",
                f"{false} of {pairs}",
                *cells,
            ]
        )
    noise = ", ".join(f"{100 * each['sd']:.0f} % at {each['call_ns'] / 1e3:.0f} µs" for each in found["noise"])
    show(
        f"Records beside records: the same program in {processes} fresh processes (medians in µs; wanted: at most "
        "5 % called, and planted differences found as often as predicted, within ten points)",
        [
            "program",
            "processes a record",
            "medians",
            "within (± %)",
            "between (sd, %)",
            "called faster or slower",
            "smallest: found (predicted), %",
            "twice that: found (predicted), %",
        ],
        rows,
        [
            f"Records of one process: {total[0]} of {total[1]} pairs called, {100 * total[0] / total[1]:.1f} %.",
            f"The noise between processes that these rest on, measured before: {noise}.",
            "The prediction takes that the processes differ as these ones did.",
        ],
    )


def real_ratios(each: int) -> None:
    """Whether intervals of real ratios hold, and what is said of differences that are known."""
    rows = ask("ratios.py", each)
    table = []
    for row in rows:
        now, before = row["now"], row["before"]
        table.append(
            [
                f"1000 and {row['steps']}",
                f"{row['truth']:.4f}",
                spread(row["rounds"], ".0f"),
                spread(row["seconds"], ".1f"),
                *(f"{one['covered']} of {row['comparisons']}" for one in (now, before)),
                *(", ".join(f"{count} {name}" for name, count in one["verdicts"].items()) for one in (now, before)),
            ]
        )
    show(
        "Ratios of real scans: how many intervals hold the truth, and which verdicts there are",
        ["steps", "truth", "rounds", "seconds", "holds", "held before", "verdicts", "verdicts before"],
        table,
        ["truth: the median over the other comparisons of the same two."],
    )


def slow_lines(rounds: int) -> None:
    """What profiles tell of one slow line in each of many programs, beside what taking it away spares."""
    rows = ask("lines.py", rounds, devices=DEVICES)
    show(
        "Slow lines: the share that a profile tells, and what the program takes less without the line",
        HEAD,
        [cells(row) for row in rows],
        ["told: of the device's time. In brackets: the 95 % interval of the median."],
    )


def elements(rounds: int) -> None:
    """What an element costs, beside what profiles reckon with."""
    found = ask("elements.py", rounds)
    addition = median(found.pop(""))
    rows = [[name, spread(each, ".0f"), f"{median(each) / addition:.1f}"] for name, each in found.items()]
    show(
        f"What an element costs more (ps; a program of one addition takes {addition:.0f} for each)",
        ["operation", "ps", "additions"],
        rows,
        ["In a chain an addition costs nothing: the memory that it reads does. See xla/costs/weights.py."],
    )


def sampling(rounds: int) -> None:
    """What sampling the memory costs a training loop."""
    found = ask("sampling.py", rounds)
    rows = []
    for name, who in (("sampled every ms", "sampled"), ("not sampled either", "again")):
        beyond = [100 * (each / bare - 1) for each, bare in zip(found[who], found["bare"], strict=True)]
        step = spread([each / found["steps"] / 1e3 for each in found[who]], ".0f")
        rows.append([name, step, f"{median(beyond):+.2f} ±{uncertainty(beyond) or 0:.2f}", str(len(beyond))])
    sampled, other = ([each / 1e3 for each in found["excess"][who]] for who in ("sampled", "again"))
    samples, loop_us = median(found["samples"]), median(found["sampled"]) / 1e3
    cost_us = median(sampled) - median(other)
    uncertain_us = ((uncertainty(sampled) or 0) ** 2 + (uncertainty(other) or 0) ** 2) ** 0.5
    to_percent = 100 * samples / loop_us
    show(
        f"The memory sampler: {found['steps']} steps of training, beyond the same in the same round without it",
        ["loop", "a step (µs)", "slower (%, median and its 95 % interval)", "n"],
        rows,
        [
            "Wanted: under 1 %.",
            f"By the steps: one with a sample takes {cost_us:.0f} ±{uncertain_us:.0f} µs more than those before it, "
            f"beyond what moments without a sample do ({len(sampled)} and {len(other)}); with {samples:.0f} samples "
            f"in a loop, that is {cost_us * to_percent:.2f} ±{uncertain_us * to_percent:.2f} % of its time.",
            f"Its own processor time is {100 * median(found['cpu']):.2f} % of the loop's time.",
        ],
    )


def memory_map(rounds: int, sizes: list[int]) -> None:
    """What reading the memory map of a large program costs."""
    rows = ask("memory_map.py", rounds, *sizes)
    show(
        "The memory map of a program (ms; wanted: under 1000 for 10,000 instructions, and as much for each of them)",
        ["instructions", "buffers", "took", "µs for each instruction", "JAX alone", "n"],
        [
            [
                str(row["steps"]),
                str(row["buffers"]),
                spread([each / 1e6 for each in row["took_ns"]], ".0f"),
                spread([each / 1e3 / row["steps"] for each in row["took_ns"]], ".0f"),
                spread([each / 1e6 for each in row["planned_ns"]], ".0f"),
                str(len(row["took_ns"])),
            ]
            for row in rows
        ],
        ["JAX alone: memory_analysis() and the module's bytes, which are part of what it took."],
    )


def profiling(rounds: int, sizes: list[int]) -> None:
    """What it costs to sum up a recording, and to make one."""
    rows = ask("profiling.py", "main", rounds, *sizes)
    peers = [each for each in rows[0]["took_ns"] if each != "jaxmagic"]
    show(
        "A recording summed up: lines, operations, scopes and devices (ms; wanted: 1500 for 400,000 events, twice as "
        "soon as xprof's overview_page)",
        ["operations", "MB", "jaxmagic", "µs each", *(f"{each} (ratio)" for each in peers), "n"],
        [
            [
                str(row["operations"]),
                f"{row['bytes'] / 1e6:.0f}",
                spread([each / 1e6 for each in row["took_ns"]["jaxmagic"]], ".0f"),
                f"{median(row['took_ns']['jaxmagic']) / 1e3 / row['operations']:.2f}",
                *(_beside(row["took_ns"][peer], row["took_ns"]["jaxmagic"]) for peer in peers),
                str(len(row["took_ns"]["jaxmagic"])),
            ]
            for row in rows
        ],
        [] if peers else ["xprof is not installed here: pip install xprof."],
    )
    table = []
    for size in (64, 128):
        found = ask("profiling.py", "slowdown", 2 if rounds < 3 else 5, 2000 if rounds < 3 else 100_000, size)
        bare, recorded, reading = (found["took_ns"][each] for each in ("bare", "recorded", "reading"))
        pairs = list(zip(recorded, bare, strict=True))
        table.append(
            [
                str(found["operations"]),
                f"{size}x{size}",
                spread([each / 1e3 / found["operations"] for each in bare]),
                spread([(one - other) / 1e3 / found["operations"] for one, other in pairs]),
                spread([100 * (one / other - 1) for one, other in pairs]),
                spread([each / 1e6 for each in reading], ".0f"),
                str(len(bare)),
            ]
        )
    show(
        "A program under the profiler (wanted: less than 10 % slower)",
        ["operations", "matrices", "one (µs)", "more with it (µs)", "slower (%)", "to stop and read (ms)", "n"],
        table,
    )


def _beside(peer: list[int], ours: list[int]) -> str:
    ratios = [one / other for one, other in zip(peer, ours, strict=True)]
    return f"{spread([each / 1e6 for each in peer], '.0f')} ({spread(ratios)})"


def page(counts: list[int]) -> None:
    """What a page with many rectangles or events weighs, and how often it is drawn while it is dragged."""
    rows = ask("page.py", "map", *counts)
    for what in ("timeline", "flame"):
        rows += ask("page.py", what, *(10 * each for each in counts))
    show(
        "Pages in Chromium (wanted: 30 frames a second; under 400 KB with a map of 10,000 rectangles, 150 KB with a "
        "timeline of 100,000 events or the flame graph of a profile with as many)",
        ["of", "rectangles, events or cells", "KB", "ms between frames", "slowest twentieth", "n"],
        [
            [
                row["what"],
                str(row["count"]),
                f"{row['size_bytes'] / 1000:.0f}",
                spread(row["frames_ms"], ".1f"),
                f"{sorted(row['frames_ms'])[-len(row['frames_ms']) // 20]:.1f}",
                str(len(row["frames_ms"])),
            ]
            for row in rows
        ],
    )


def idle_fence(rounds: int) -> None:
    """What the fence costs when there is no work."""
    rows = []
    for devices in (1, DEVICES):
        for when, found in ask("idle_fence.py", rounds, devices=devices).items():
            took = [each / 1e3 for each in found["took_ns"]]
            rows.append([str(devices), when, spread(took), str(found["found_work"]), str(len(took))])
    rows.sort()
    show(
        "The fence when there is no work (µs), and how often it took that for work",
        ["devices", "when", "took", "work found", "n"],
        rows,
    )


if __name__ == "__main__":
    main()
