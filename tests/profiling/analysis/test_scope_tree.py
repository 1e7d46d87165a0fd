"""Device time as a tree: every nanosecond counts once, whatever the paths are."""

from __future__ import annotations

from dataclasses import replace

from fabricate.profiling import CALLER, HELPER, MS, fabricated, place
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.charts.areas import Flame
from jaxmagic.profiling.analysis.scope_tree import NOWHERE, By, Node, tree, walk
from jaxmagic.profiling.charts.flame import profile_flame
from jaxmagic.profiling.record.profile import PlaceTime

SCOPE = st.lists(st.sampled_from(["jit(f)", "a", "b", "transpose(jvp(a/b))"]), max_size=5).map("/".join)


@given(st.lists(st.tuples(SCOPE, st.integers(0, 1000)), max_size=12))
def test_each_part_is_its_own_time_and_that_of_its_parts(scopes: list[tuple[str, int]]) -> None:
    places = tuple(place(time_ns, scope=scope) for scope, time_ns in scopes)
    root = tree(replace(fabricated(), place_times=places))
    assert root.time_ns == sum(time_ns for _, time_ns in scopes) == sum(node.self_ns for _, node in walk(root))
    for _, node in walk(root):
        assert node.time_ns == node.self_ns + sum(each.time_ns for each in node.children.values())


def names(node: Node) -> list[str]:
    return [each.name for each in node.children]


def test_calls_are_the_users_own_the_outermost_first() -> None:
    root = tree(fabricated(), "stack")
    assert names(root) == ["f", "f", NOWHERE]
    (caller, *_) = root.children.values()
    assert (caller.step.place, names(caller)) == ("cell 3:5", ["helper"])


def test_a_line_that_calls_itself_through_a_library_is_one_step() -> None:
    places = (place(MS, CALLER, CALLER, CALLER, HELPER),)
    root = tree(replace(fabricated(), place_times=places), "stack")
    (caller,) = root.children.values()
    assert names(caller) == ["helper"]


def test_a_deep_path_is_no_error_and_what_is_not_drawn_is_said() -> None:
    deep = "/".join(f"s{number}" for number in range(3000))
    found = profile_flame(replace(fabricated(), place_times=(place(MS, scope=deep),)))
    assert found is not None
    assert found.levels == 20
    assert "not drawn" in found.note


def kinds_of(found: Flame) -> dict[str, str]:
    return {each.name: found.kinds[each.kind] if each.kind < len(found.kinds) else "" for each in found.cells}


def test_a_flame_graph_says_which_pass_and_whose_function() -> None:
    step = replace(CALLER, function="trained.<locals>.step")
    places = (
        place(4 * MS, step, HELPER, scope="jit(step)/jvp(Dense_0)/jit(sort)/sort"),
        place(3 * MS, step, HELPER, scope="jit(step)/transpose(jvp(Dense_0))/mul"),
        place(3 * MS, step, scope="jit(step)/jvp()/add"),
    )
    found = profile_flame(replace(fabricated(), place_times=places))
    assert found is not None
    assert found.title == "device time by scope"
    assert kinds_of(found) == {
        "all": "", "jit(step)": "your function", "forward of Dense_0": "scope", "backward of Dense_0": "scope",
        "forward": "scope", "jit(sort)": "other function", "sort": "operation", "mul": "operation",
        "add": "operation",
    }  # fmt: skip
    briefs = {each.name: each.brief for each in found.cells if each.brief != each.name}
    assert briefs == {"forward of Dense_0": "fwd Dense_0", "backward of Dense_0": "bwd Dense_0"}
    tips = {each.name: each.lines for each in found.cells}
    assert tips["backward of Dense_0"] == (
        "backward of Dense_0",
        "1.50 ms, 30 % of all",
        "in JAX: transpose(jvp(Dense_0))",
    )


def test_without_a_backward_pass_jvp_is_no_forward_pass() -> None:
    found = profile_flame(replace(fabricated(), place_times=(place(MS, scope="jit(f)/jvp(Dense_0)/mul"),)))
    assert found is not None
    assert "jvp of Dense_0" in kinds_of(found)


def test_where_no_scope_has_a_name_the_users_functions_are_drawn() -> None:
    places = (place(4 * MS, CALLER, HELPER, scope="jit(f)/jvp()/sort"), place(MS, CALLER, scope="jit(f)/add"))
    found = profile_flame(replace(fabricated(), place_times=places))
    assert found is not None
    assert found.title == "device time by call stack"
    assert kinds_of(found) == {
        "all": "", "f": "your function", "helper": "your function", "sort": "operation", "add": "operation",
    }  # fmt: skip


def test_names_that_jax_gives_are_no_scopes_so_that_the_users_functions_are_drawn() -> None:
    scopes = (
        "jit(f)/transpose(jvp())/sort", "jit(f)/while/body/closed_call/sort", "jit(f)/branch_1_fun/sort",
        "jit(f)/jvp(checkpoint)/rematted_computation/sort", "jit(f)/transpose(jvp(helper))/sort",
    )  # fmt: skip
    for scope in scopes:
        found = profile_flame(replace(fabricated(), place_times=(place(MS, CALLER, HELPER, scope=scope),)))
        assert found is not None
        assert (found.title, found.note) == ("device time by call stack", "")
        assert "helper" in kinds_of(found)


def test_calls_tell_the_backward_pass_of_an_operation_from_its_forward_pass() -> None:
    scopes = ("jit(f)/jvp()/dot", "jit(f)/transpose(jvp())/dot")
    places = tuple(place(MS, CALLER, HELPER, scope=scope) for scope in scopes)
    found = profile_flame(replace(fabricated(), place_times=places))
    assert found is not None
    assert {"dot", "backward of dot"} <= kinds_of(found).keys()


def test_the_top_of_a_cell_is_named_after_its_line_and_the_line_is_not_repeated() -> None:
    top = replace(CALLER, function="<module>", line=9)
    places = (place(MS, top, CALLER, scope="jit(f)/sort"),)
    found = profile_flame(replace(fabricated(), place_times=places, runs=None))
    assert found is not None
    assert [(each.name, each.place) for each in found.cells if each.level == 1] == [("cell 3:9", "")]


def test_a_flame_graph_says_what_it_does_not_show() -> None:
    def note(*places: PlaceTime, by: By | None = None) -> str:
        found = profile_flame(replace(fabricated(), place_times=places), by)
        assert found is not None
        return found.told

    called, unknown = place(MS, CALLER, scope="jit(f)/layer/sort"), place(MS, scope="jit(f)/transpose(jvp())/sort")
    assert note(called) == 'your calls: figure("stacks")'
    assert note(called, by="stack") == 'named scopes: figure("scopes")'
    assert note(unknown) == "calls of your functions were not recorded"
