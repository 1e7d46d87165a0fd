"""What other tools say of the recordings, and what we say of the same: for a test and for a table of the manual.

``python tests/golden.py FOLDER`` writes ``recorded/golden/xprof.json`` anew from what XProf says, which has to be
there: each recording in a folder of its own, because XProf keeps what it found and answers for its neighbours.
``python tests/golden.py`` writes the table of the manual.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from jaxmagic.profiling.record.profile import Profile

GOLDEN = Path(__file__).parent / "recorded" / "golden"


class Figure(NamedTuple):
    """A number that another tool tells.

    Attributes:
        recording: of which.
        tool: whose.
        what: what it is of, such as an operation and its program.
        name: of the number, with its unit.
        value: it.
    """

    recording: str
    tool: str
    what: str
    name: str
    value: float


def figures() -> Iterator[Figure]:
    """All of them: of XProf, and of TraceLens."""
    for row in json.loads((GOLDEN / "xprof.json").read_text()):
        yield Figure(*row)
    name = "gpu_mi300_2dev_conv_copies"
    with (GOLDEN / f"{name}.gpu_timeline.csv").open() as file:
        for one in csv.DictReader(file):
            device = f"GPU:{int(one['gpu_pid']) - 1}"
            yield Figure(name, "TraceLens gpu_timeline", device, one["type"], float(one["time ms"]))
    with (GOLDEN / f"{name}.gpu_events_averages.csv").open() as file:
        for one in csv.DictReader(file):
            yield Figure(
                name, "TraceLens gpu_events_averages", "mean of GPU:0 and GPU:7", one["type"], float(one["time ms"])
            )
    with (GOLDEN / f"{name}.kernel_launchers_summary.csv").open() as file:
        for one in csv.DictReader(file):
            yield Figure(
                name,
                "TraceLens kernel_launchers",
                one["name"],
                "total µs",
                float(one["total_direct_kernel_time_sum"]),
            )
            yield Figure(name, "TraceLens kernel_launchers", one["name"], "count", float(one["Count"]))


#: Why figures differ: of which tool, which they are, what they are of, and the reason.
EXPLAINED = (
    (
        r"XProf hlo_stats", r"occurrences|MFLOP|MiB", r"te_fused_attn.*|cudnn-conv.*",
        "it counts each kernel as an execution of the operation; one execution of these has several kernels",
    ),
    (
        r"XProf hlo_stats", r"MFLOP", r"(loop|input)_\w*fusion.*|fusion.*",
        "for elementwise operations it counts what each costs on a GPU, 3 for an addition and 668 for a sine; "
        "we count 1 each",
    ),
    (
        r"XProf (op_profile|overview_page)|TraceLens gpu_(timeline|events_averages)",
        r"window ms|ms|idle %|idle_time|total_time", r"all|IDLE|GPU:7|mean of .*",
        "its window covers the operations of each device, ours those of all devices",
    ),
    (
        r"XProf op_profile", r"ms", r"jit_\w+",
        "the trace has no module of the program, and we list operations of such a program without one",
    ),
)  # fmt: skip


def explanation(figure: Figure) -> str | None:
    """Why a figure differs from ours; ``None`` if that is not explained."""
    for tool, name, what, reason in EXPLAINED:
        if re.fullmatch(tool, figure.tool) and re.fullmatch(name, figure.name) and re.fullmatch(what, figure.what):
            return reason
    return None


def table(profiles: Mapping[str, Profile]) -> str:
    """How many figures agree, by recording and tool, and why others do not."""
    lines = ["| recording | tool | figures | within 1 % | others | why |", "| --- | --- | ---: | ---: | ---: | --- |"]
    for recording, profile in profiles.items():
        every = compared(recording, profile)
        for tool in dict.fromkeys(each.figure.tool for each in every):
            mine = [each for each in every if each.figure.tool == tool]
            rest = [each for each in mine if not each.agrees]
            why = "; ".join(dict.fromkeys(explanation(each.figure) or "not explained" for each in rest))
            lines.append(f"| {recording} | {tool} | {len(mine)} | {len(mine) - len(rest)} | {len(rest)} | {why} |")
    return "\n".join(lines) + "\n"


class Compared(NamedTuple):
    """A figure of another tool beside ours; ``None`` where we have none."""

    figure: Figure
    ours: float | None

    @property
    def agrees(self) -> bool:
        """Within one per cent, or within what the other tool rounds to."""
        if self.ours is None:
            return False
        rounding = 0.05 if self.figure.name == "idle %" else 0.001
        return abs(self.ours - self.figure.value) <= max(0.01 * abs(self.figure.value), rounding)


def compared(recording: str, profile: Profile) -> list[Compared]:
    """All figures of a recording beside ours. Operations of one name in several programs are added up."""
    mine = [each for each in figures() if each.recording == recording]
    told: dict[tuple[str, str, str], float] = {}
    rates = {(each.what, each.name): each.value for each in mine if each.tool == "XProf hlo_stats"}
    for each in mine:
        what, name, value = each.what, each.name, each.value
        if each.tool == "XProf hlo_stats":
            what = what.partition(" of program ")[0]
            if name in ("GFLOP/s", "GiB/s"):  # rates of several programs cannot be added, what they are of can
                name, unit = ("MFLOP", 1e-3) if name == "GFLOP/s" else ("MiB", 1024 / 1e6)
                value *= rates[each.what, "total µs"] * unit
        elif each.tool == "XProf op_profile":
            what = what.partition("(")[0]
        key = each.tool, what, name
        together = min if name == "shortest µs" else max if name == "longest µs" else lambda one, other: one + other
        told[key] = together(told[key], value) if key in told else value
    ours = _ours(profile)
    return [Compared(Figure(recording, *key, value), ours.get(key)) for key, value in told.items()]


def _ours(profile: Profile) -> dict[tuple[str, str, str], float]:
    """What we say, under the names of the other tools."""
    found: dict[tuple[str, str, str], float] = {}

    def add(tool: str, what: str, name: str, value: float) -> None:
        found[tool, what, name] = found.get((tool, what, name), 0.0) + value

    for one in profile.operation_times:
        if one.module or profile.device_uses[0].device.startswith("TPU"):
            add("XProf hlo_stats", one.name, "total µs", one.total_ns / 1e3)
            add("XProf hlo_stats", one.name, "occurrences", one.count)
            add("XProf hlo_stats", one.name, "MFLOP", (one.flops or 0) * one.count / 1e6)
            add("XProf hlo_stats", one.name, "MiB", (one.accessed_bytes or 0) * one.count / 2**20)
    sizes: dict[str, list[tuple[int, int]]] = {}
    for each in profile.kernel_times:
        grid, block = (",".join(map(str, size)) for size in (each.grid, each.block))
        what = f"{each.full_name}|{grid}|{block}"
        add("XProf kernel_stats", what, "total µs", each.total_ns / 1e3)
        add("XProf kernel_stats", what, "count", each.count)
        add("TraceLens kernel_launchers", each.full_name, "total µs", each.total_ns / 1e3)
        add("TraceLens kernel_launchers", each.full_name, "count", each.count)
        sizes.setdefault(what, []).append((each.min_ns, each.max_ns))
    for what, times in sizes.items():
        found["XProf kernel_stats", what, "shortest µs"] = min(low for low, _ in times) / 1e3
        found["XProf kernel_stats", what, "longest µs"] = max(high for _, high in times) / 1e3
    for program in profile.programs:
        add("XProf op_profile", program.name, "ms", program.time_ns / 1e6)
    add("XProf op_profile", "all", "window ms", profile.recorded_ns * len(profile.device_uses) / 1e6)
    add("XProf op_profile", "IDLE", "ms", sum(each.idle_ns for each in profile.device_uses) / 1e6)
    idle = sum(each.idle_ns for each in profile.device_uses) / max(profile.recorded_ns * len(profile.device_uses), 1)
    add("XProf overview_page", "all", "idle %", 100 * idle)
    busy = max(sum(each.self_ns for each in profile.operation_times if not each.asynchronous), 1)
    for one in profile.operation_times:
        add("XProf overview_page", one.name, "share %", 100 * one.self_ns / busy)
    for place in profile.place_times:
        add("XProf overview_page", place.scope, "share %", 100 * place.time_ns / busy)
    for use in profile.device_uses:
        mean = "mean of GPU:0 and GPU:7"
        values = {
            "computation_time": use.compute_ns, "exposed_comm_time": use.exposed_collective_ns,
            "exposed_memcpy_time": use.exposed_copy_ns, "busy_time": use.busy_ns, "idle_time": use.idle_ns,
            "total_time": profile.recorded_ns, "total_comm_time": use.collective_ns, "total_memcpy_time": use.copy_ns,
        }  # fmt: skip
        for name, value in values.items():
            add("TraceLens gpu_timeline", use.device, name, value / 1e6)
            add("TraceLens gpu_events_averages", mean, name, value / 1e6 / len(profile.device_uses))
    return found


def _of_xprof(path: Path) -> Iterator[tuple[str, str, str, str, float]]:
    from xprof.convert.raw_to_tool_data import xspace_to_tool_data  # type: ignore[import-not-found]

    def said(tool: str) -> Any:
        found, _ = xspace_to_tool_data([str(path)], tool, {})
        return json.loads(found)

    def rows(tool: str) -> Iterator[dict[str, Any]]:
        table = said(tool)
        for row in table["rows"]:
            yield {column["id"]: cell["v"] for column, cell in zip(table["cols"], row["c"], strict=True)}

    name = path.name.removesuffix(".xplane.pb")
    for one in rows("hlo_stats"):
        what = f"{one['hlo_op_name']} of program {one['program_id']}"
        yield name, "XProf hlo_stats", what, "total µs", one["total_time"]
        yield name, "XProf hlo_stats", what, "occurrences", one["occurrences"]
        if one["model_flop_rate"]:
            yield name, "XProf hlo_stats", what, "GFLOP/s", one["model_flop_rate"]
        if one["measured_memory_bw"]:
            yield name, "XProf hlo_stats", what, "GiB/s", one["measured_memory_bw"]
    if name.startswith("gpu"):
        for one in rows("kernel_stats"):
            what = f"{one['kernel_name']}|{one['grid_dim']}|{one['block_dim']}"
            for column, unit in (("total_duration_us", "total µs"), ("occurrences", "count")):
                yield name, "XProf kernel_stats", what, unit, one[column]
            for column, unit in (("min_duration_us", "shortest µs"), ("max_duration_us", "longest µs")):
                yield name, "XProf kernel_stats", what, unit, one[column]
    tree = said("op_profile")["byProgram"]
    yield name, "XProf op_profile", "all", "window ms", tree["metrics"]["rawTime"] / 1e9
    for one in tree["children"]:
        yield name, "XProf op_profile", one["name"], "ms", one["metrics"]["rawTime"] / 1e9
    for table in said("overview_page"):  # of GPUs it has no idle time, and operations under the names of JAX
        if idle := table.get("p", {}).get("device_idle_time_percent"):
            yield name, "XProf overview_page", "all", "idle %", float(idle.rstrip("%"))
        columns = [column["id"] for column in table.get("cols", ())]
        if "selfTimePercent" in columns and not name.startswith("gpu"):
            for row in table["rows"]:
                one = {column: cell["v"] for column, cell in zip(columns, row["c"], strict=True)}
                yield name, "XProf overview_page", one["operation"], "share %", 100 * float(one["selfTimePercent"])


def main(folder: Path) -> None:
    """Ask XProf."""
    found: list[tuple[str, str, str, str, float]] = []
    for path in sorted(folder.glob("*.xplane.pb")):
        with tempfile.TemporaryDirectory() as alone:
            found += _of_xprof(Path(shutil.copy(path, alone)))
    (GOLDEN / "xprof.json").write_text("[\n" + ",\n".join(json.dumps(each) for each in found) + "\n]\n")


def write_table() -> None:
    """Write the table of the manual."""
    from recordings import trace

    import jaxmagic

    names = dict.fromkeys(each.recording for each in figures())
    told = table({name: jaxmagic.read_profile(trace(name)) for name in names})
    (GOLDEN.parents[2] / "docs" / "tables" / "golden.md").write_text(told)


if __name__ == "__main__":
    main(Path(sys.argv[1])) if sys.argv[1:] else write_table()
