"""Live ranges of values, in programs small enough to check by hand."""

from __future__ import annotations

import fabricate.hlo

from jaxmagic.xla.buffer_assignment import Location
from jaxmagic.xla.hlo import HloInstruction, ShapeIndex
from jaxmagic.xla.live_ranges import live_ranges
from jaxmagic.xla.schedule import flattened_schedule


class Writer:
    """Writes a program, one instruction per line."""

    def __init__(self) -> None:
        self.schedule: dict[int, tuple[int, ...]] = {}
        self.instructions: list[HloInstruction] = []
        self.numbers: dict[str, int] = {}

    def computation(self, number: int, *lines: tuple[object, ...]) -> None:
        """Add a computation; each line is a name, opcode and operands, and the last line is the root."""
        for name, opcode, operands, *more in lines:
            fields = dict(more[0]) if more else {}  # type: ignore[call-overload]
            taken = (self.numbers[each] for each in str(operands).split())
            self.numbers[str(name)] = len(self.numbers)
            self.instructions.append(fabricate.hlo.instruction(str(opcode), *taken, name=str(name), **fields))
        self.schedule[number] = tuple(self.numbers[str(name)] for name, *_ in lines)

    def needed(self, *made_at: str | tuple[str, ShapeIndex]) -> dict[str, tuple[int, int]]:
        program = fabricate.hlo.module(
            *self.instructions,
            computations=self.schedule,
            schedule=self.schedule,
            root_ids={number: order[-1] for number, order in self.schedule.items()},
            entry_computation_id=max(self.schedule),
        )
        places = [self.place(each, ()) if isinstance(each, str) else self.place(*each) for each in made_at]
        found = live_ranges(program, places, flattened_schedule(program))
        names = {number: name for name, number in self.numbers.items()}
        return {names[place.instruction_id]: (life.first, life.last) for place, life in found.items()}

    def place(self, name: str, index: ShapeIndex) -> Location:
        return Location(self.numbers[name], index)


def test_a_value_is_needed_from_its_maker_to_its_last_user() -> None:
    write = Writer()
    write.computation(
        0,
        ("x", "parameter", ""),
        ("a", "add", "x"),
        ("b", "add", "a"),
        ("c", "add", "a b"),
        ("d", "add", "c"),
    )
    assert write.needed("x", "a", "b", "c", "d") == {"x": (0, 1), "a": (1, 3), "b": (2, 3), "c": (3, 4), "d": (4, 4)}


def test_what_is_returned_is_needed_to_the_end_wherever_it_went() -> None:
    write = Writer()
    write.computation(
        0,
        ("x", "parameter", ""),
        ("a", "add", "x"),
        ("pair", "tuple", "a x"),
        ("first", "get-tuple-element", "pair", {"tuple_index": 0}),
        ("same", "bitcast", "first"),
        ("b", "add", "x"),
        ("out", "tuple", "same b"),
    )
    assert write.needed("a", "b", "pair", "out") == {"a": (1, 6), "b": (5, 6), "pair": (2, 3), "out": (6, 6)}


def test_the_other_element_of_a_tuple_is_not_meant() -> None:
    write = Writer()
    write.computation(
        0,
        ("a", "parameter", ""),
        ("b", "add", "a"),
        ("pair", "tuple", "a b"),
        ("second", "get-tuple-element", "pair", {"tuple_index": 1}),
        ("c", "add", "second"),
        ("d", "add", "c"),
    )
    assert write.needed("a", "b") == {"a": (0, 2), "b": (1, 4)}


def loop() -> Writer:
    write = Writer()
    write.computation(0, ("now", "parameter", ""), ("going on", "compare", "now", {"shape": "pred[]"}))
    write.computation(1, ("state", "parameter", ""), ("half", "multiply", "state"), ("next", "add", "half"))
    write.computation(
        2,
        ("x", "parameter", ""),
        ("kept", "parameter", "", {"parameter_number": 1}),
        ("start", "copy", "x"),
        ("loop", "while", "start", {"called_computation_ids": (0, 1)}),
        ("end", "add", "loop kept"),
    )
    return write


def test_a_loop_runs_before_itself_and_its_state_changes_hands() -> None:
    # 0 x, 1 kept, 2 start, 3 now, 4 going on, 5 state, 6 half, 7 next, 8 loop, 9 end
    needed = loop().needed("start", "now", "state", "half", "next", "loop", "end", "kept")
    assert needed == {
        "start": (2, 3),  # until the loop has a state of its own, in the same buffer
        "now": (3, 4),  # through the condition
        "state": (5, 6),
        "half": (6, 7),
        "next": (7, 7),  # to the end of the body; then it belongs to the loop
        "loop": (8, 9),
        "end": (9, 9),
        "kept": (0, 9),  # across the loop
    }


def test_what_a_loop_does_not_change_is_one_value_from_before_it_to_behind_it() -> None:
    write = Writer()
    write.computation(0, ("now", "parameter", ""), ("going on", "compare", "now", {"shape": "pred[]"}))
    write.computation(
        1,
        ("state", "parameter", ""),
        ("same", "get-tuple-element", "state", {"tuple_index": 1}),
        ("i", "add", "same"),
        ("next", "tuple", "i same"),
    )
    write.computation(
        2,
        ("i0", "constant", ""),
        ("w", "add", "i0"),
        ("start", "tuple", "i0 w"),
        ("loop", "while", "start", {"called_computation_ids": (0, 1)}),
        ("after", "get-tuple-element", "loop", {"tuple_index": 1}),
        ("use", "add", "after"),
        ("end", "add", "use"),
    )
    # 0 i0, 1 w, 2 start, 3 now, 4 going on, 5 state, 6 same, 7 i, 8 next, 9 loop, 10 after, 11 use, 12 end
    assert write.needed("w", "i0", "i", "use") == {"w": (1, 11), "i0": (0, 5), "i": (7, 9), "use": (11, 12)}


def test_a_call_needs_what_it_is_given_only_as_long_as_what_it_runs() -> None:
    write = Writer()
    write.computation(0, ("taken", "parameter", ""), ("twice", "add", "taken"), ("more", "add", "twice"))
    write.computation(
        1,
        ("x", "parameter", ""),
        ("a", "add", "x"),
        ("result", "call", "a", {"called_computation_ids": (0,)}),
        ("end", "add", "result"),
    )
    # 0 x, 1 a, 2 taken, 3 twice, 4 more, 5 result, 6 end
    assert write.needed("a", "twice", "more") == {"a": (1, 3), "twice": (3, 4), "more": (4, 6)}


def test_a_call_around_a_loop_ends_what_the_loop_begins_with_where_its_state_begins() -> None:
    write = Writer()
    write.computation(0, ("now", "parameter", ""), ("going on", "compare", "now", {"shape": "pred[]"}))
    write.computation(1, ("state", "parameter", ""), ("next", "add", "state"))
    write.computation(2, ("given", "parameter", ""), ("loop", "while", "given", {"called_computation_ids": (0, 1)}))
    write.computation(
        3,
        ("x", "parameter", ""),
        ("start", "copy", "x"),
        ("result", "call", "start", {"called_computation_ids": (2,)}),
        ("y", "add", "x"),
    )
    # 0 x, 1 start, 2 given, 3 now, 4 going on, 5 state, 6 next, 7 loop, 8 result, 9 y
    needed = write.needed("start", "now", "state", "loop")
    assert needed == {"start": (1, 3), "now": (3, 4), "state": (5, 6), "loop": (7, 8)}


def test_a_call_whose_computation_has_no_schedule_reads_what_it_is_given() -> None:
    write = Writer()
    write.computation(
        0, ("x", "parameter", ""), ("a", "add", "x"), ("result", "call", "a", {"called_computation_ids": (7,)})
    )
    assert write.needed("a") == {"a": (1, 2)}


def test_a_branch_takes_the_callers_value_and_gives_its_own_back() -> None:
    write = Writer()
    write.computation(0, ("left", "parameter", ""), ("a", "add", "left"))
    write.computation(1, ("right", "parameter", ""), ("unused", "constant", ""), ("b", "add", "unused"))
    write.computation(
        2,
        ("which", "parameter", ""),
        ("x", "add", "which"),
        ("y", "add", "which"),
        ("either", "conditional", "which x y", {"called_computation_ids": (0, 1)}),
        ("end", "add", "either"),
    )
    # 0 which, 1 x, 2 y, 3 left, 4 a, 5 right, 6 unused, 7 b, 8 either, 9 end
    assert write.needed("x", "y", "a", "b", "either") == {
        "x": (1, 4),  # until the end of its own branch
        "y": (2, 5),  # its branch does not read it
        "a": (4, 4),  # afterwards it belongs to the caller
        "b": (7, 7),
        "either": (8, 9),
    }


def test_what_is_started_is_needed_until_it_is_done() -> None:
    write = Writer()
    write.computation(
        0,
        ("x", "parameter", ""),
        ("start", "copy-start", "x"),
        ("other", "constant", ""),
        ("done", "copy-done", "start"),
        ("end", "add", "done"),
    )
    # Element 0 of copy-start's result is the copy; the operand stays live until the copy is done.
    assert write.needed(("start", (0,)), "x") == {"start": (1, 4), "x": (0, 3)}


def test_a_computation_that_calls_itself_ends() -> None:
    write = Writer()
    write.computation(0, ("x", "parameter", ""), ("again", "call", "x", {"called_computation_ids": (0,)}))
    assert write.needed("x")["x"][0] == 0


def test_what_is_inside_of_a_fusion_has_no_time() -> None:
    write = Writer()
    write.computation(0, ("x", "parameter", ""), ("sum", "fusion", "x", {"called_computation_ids": (7,)}))
    write.numbers["inside"] = 99
    assert write.needed("x", "inside") == {"x": (0, 1)}
