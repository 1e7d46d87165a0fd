"""Users of operations."""

from __future__ import annotations

import fabricate.hlo
import pytest

from jaxmagic.profiling.analysis.op_users import dependents
from jaxmagic.profiling.record.recording import EventMetadata
from jaxmagic.xla.hlo import HloModule

#: Operations of a module, with their operands.
TAKES = {"x": "", "dot": "x", "tuple": "dot", "element": "tuple", "tanh": "element", "sum": "tanh", "add": "dot"}


def module() -> HloModule:
    numbers = {name: number for number, name in enumerate(TAKES)}
    taken = {name: [numbers[each] for each in [taken] if each] for name, taken in TAKES.items()}
    return fabricate.hlo.module(*(fabricate.hlo.instruction(name, *taken[name]) for name in TAKES))


def kind(name: str, device: int = 0, program: int = 7, host: str = "", **stats: int) -> EventMetadata:
    return EventMetadata(name, {"hlo_op": name, "program_id": program, "device_ordinal": device, **stats}, host)


def names(kinds: list[EventMetadata], wanted: int) -> set[str]:
    return {kinds[each].name for each in dependents(kinds, {("", 7): module()}, [wanted])[wanted]}


@pytest.mark.parametrize(
    ("of", "found"), [("dot", {"dot", "tanh", "add"}), ("tanh", {"tanh", "sum"}), ("sum", {"sum"})]
)
def test_what_takes_the_result_waits_also_by_way_of_what_has_no_events(of: str, found: set[str]) -> None:
    kinds = [kind(each) for each in ("dot", "tanh", "sum", "add")]
    assert names(kinds, [each.name for each in kinds].index(of)) == found


def test_other_devices_programs_and_hosts_do_not_wait() -> None:
    kinds = [kind("dot"), kind("tanh", device=1), kind("tanh", program=8), kind("tanh", host="b")]
    assert dependents(kinds, {("", 7): module()}, [0]) == {0: (0,)}


def test_an_operation_of_several_kinds_waits_in_all_of_them() -> None:
    kinds = [kind("dot"), kind("tanh"), kind("tanh", size=3), EventMetadata("host", {})]
    assert set(dependents(kinds, {("", 7): module()}, [0])[0]) == {0, 1, 2}


def test_without_a_module_or_an_instruction_only_the_operation_itself_is_known() -> None:
    kinds = [kind("dot"), kind("tanh"), kind("of another compiler")]
    assert dependents(kinds, {}, [0]) == {0: (0,)}
    assert dependents(kinds, {("", 7): module()}, [2]) == {2: (2,)}
    assert dependents([kind("dot")._replace(stats={"hlo_op": "dot"})], {}, [0]) == {0: (0,)}
