"""Differences between two observed calls, in the function's own names."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from jaxmagic.compilation.analysis.call_diff import differences, most_alike, new_objects, placement_difference
from jaxmagic.compilation.analysis.remedies import combined
from jaxmagic.compilation.record.events import Call, Held, Leaf, Node

F32, F64, I32 = (Leaf(type=each, placement=None) for each in ("f32[4]", "f64[4]", "i32[8]"))
WEAK = Leaf(type="f32[4]", placement=None, weak=True)
SCALAR = Leaf(type="f32[]", placement=None)
INT, FLOAT = (Leaf(type=each, placement=None, weak=True, number=True) for each in ("i32[]", "f32[]"))
TRUTH = Leaf(type="bool[]", placement=None, number=True)


def call(
    leaves: dict[str, Leaf] | None = None,
    *,
    call_signature: tuple[int, tuple[str, ...]] | None = (1, ()),
    empty: tuple[str, ...] = (),
    nodes: dict[str, Node] | None = None,
    **static_args: str,
) -> Call:
    names = tuple(dict.fromkeys(re.split(r"[.\[]", path)[0] for path in leaves or {}))
    return Call(
        name="f",
        leaves=leaves or {},
        static_args=static_args,
        call_signature=call_signature,
        names=(*names, *empty),
        nodes=nodes or {},
    )


@pytest.mark.parametrize(
    ("now", "before", "kind", "argument", "reason"),
    [
        (call({"x": F32}), call({"x": F64}), "dtype", "x",
         "argument x has a different dtype: f32[4] now, f64[4] before"),
        (call({"x": I32}), call({"x": F64}), "shape", "x",
         "argument x has a different shape and dtype: i32[8] now, f64[4] before"),
        (call({"x": F32}), call({"x": WEAK}), "weak type", "x",
         "argument x is a different kind of array: f32[4] (an array) now, f32[4] (a weakly typed array) before"),
        (call({"x": replace(F32, mesh="({Explicit: ('d',)})")}), call({"x": F32}), "placement", "x",
         "argument x has a different sharding: f32[4] on a mesh with explicit axis d now, f32[4] on no mesh before"),
        (call({"x": SCALAR}), call({"x": FLOAT}), "weak type", "x",
         "argument x is a different kind of number: f32[] (an array) now, f32[] (a Python float) before"),
        (call({"x": FLOAT}), call({"x": INT}), "weak type", "x",
         "argument x is a different kind of number: f32[] (a Python float) now, i32[] (a Python int) before"),
        (call({"x": TRUTH}), call({"x": SCALAR}), "weak type", "x",
         "argument x is a different kind of number: bool[] (a Python bool) now, f32[] (an array) before"),
        (call(n="2"), call(n="1"), "static value", "n", "static argument n has a different value: 2 now, 1 before"),
        (call({"p['a']": F32, "p['b']": F32}), call({"p['a']": F32}), "pytree", "p",
         "argument p has a different pytree structure: p['b'] now, not there before"),
        (call({"p['a']": F32, "p['b']": F32}, nodes={"p": Node("dict", 2, ("'a'", "'b'"))}),
         call({"p['a']": F32}, nodes={"p": Node("dict", 1, ("'a'",))}), "pytree", "p",
         "argument p has a different pytree structure: dict with keys 'a', 'b' now, dict with key 'a' before"),
        (call({"p[0]": F32, "p[1]": F32}, nodes={"p": Node("list", 2)}), call({"p": F32}), "pytree", "p",
         "argument p has a different pytree structure: list of length 2 now, a single leaf before"),
        (call({"p[0].a": F32}, nodes={"p": Node("list", 1), "p[0]": Node("P", 1, ("a",))}),
         call({"p[0][0]": F32}, nodes={"p": Node("list", 1), "p[0]": Node("tuple", 1)}), "pytree", "p[0]",
         "argument p[0] has a different pytree structure: P with field a now, tuple of length 1 before"),
        (call({"x": F32, "m": F32}), call({"x": F32}, empty=("m",)), "pytree", "m",
         "argument m has a different pytree structure: a single leaf now, nothing before"),
        (call({"p['a']": F32}), call({"p": F32}), "pytree", "p",
         "argument p has a different pytree structure: p['a'] now, a single leaf before"),
        (call({"x": F32}, empty=("m",)), call({"x": F32, "m": F32}), "pytree", "m",
         "argument m has a different pytree structure: nothing now, a single leaf before"),
        (call({"x": F32}, call_signature=(0, ("x",))), call({"x": F32}), "pytree", None,
         "the arguments are passed differently: x=… now, 1 by position before"),
        (call({"x": F32, "y": F32}, call_signature=(1, ("y",))), call({"x": F32}), "pytree", None,
         "the arguments are passed differently: 1 by position, y=… now, 1 by position before"),
    ],
)  # fmt: skip
def test_one_difference_is_one_cause(now: Call, before: Call, kind: str, argument: str | None, reason: str) -> None:
    (cause,) = differences(now, before)
    assert (cause.kind, cause.argument, cause.reason) == (kind, argument, reason)
    assert cause.remedy


def test_a_static_argument_with_another_value_passed_in_another_way_is_two_differences() -> None:
    by_keyword = replace(call({"x": F32}, call_signature=(1, ("n",)), n="3"), parameters=("x", "n"))
    by_position = replace(by_keyword, call_signature=(2, ()), static_args={"n": "2"})
    left_out = replace(by_keyword, call_signature=(1, ()), static_args={"n": "2"})  # of other arguments in any case
    for now, before in ((by_keyword, by_position), (by_position, by_keyword)):
        static, passed = differences(now, before)
        assert (static.kind, passed.kind) == ("static value", "pytree")
        assert passed.remedy == "pass each argument by position in every call, or by keyword in every call"
        assert "at how the arguments are passed (" in combined([static, passed]).reason
    assert len(differences(by_keyword, left_out)) == 1


def test_the_call_that_is_most_alike_is_compared_with() -> None:
    now = call({"x": F32, "y": F32}, n="1")
    alike = call({"x": F32, "y": F64}, n="1")
    assert most_alike(now, [alike, call({"x": F64, "y": F64}, n="2")]) is alike


def test_another_container_is_a_difference_too() -> None:
    listed, other = ({"st[0]": F32, "st[1]": each} for each in (F32, I32))
    first = replace(call(listed), containers={"st": "list[*, *]"})
    then = replace(call(listed), containers={"st": "tuple[*, *]"})
    now = replace(call(other), containers={"st": "list[*, *]"})
    assert most_alike(now, [first, then]) is first
    assert most_alike(replace(now, containers=then.containers), [then, first]) is then


def test_as_many_leaves_in_another_container_are_nearer_than_fewer() -> None:
    pair, single = ({"p[0]": F32, "p[1]": F32}, "tuple[*, *]"), ({"p[0]": F32}, "list[*, None]")
    now, *earlier = (
        replace(call(leaves), containers={"p": container})
        for leaves, container in (({"p.a": F32, "p.b": F32}, "Pt[*, *]"), pair, single)
    )
    assert most_alike(now, earlier) is earlier[0]


def test_the_same_number_of_another_type_is_nearer_than_another_number() -> None:
    for now, before, other in (("int64(2)", "2", "3"), ("False", "0", "1"), ("2.0", "2", "float32(2.5)")):
        earlier = [call(n=before), call(n=other)]
        assert most_alike(call(n=now), earlier) is earlier[0]
        (cause,) = differences(call(n=now), earlier[0])
        assert cause.reason == f"static argument n is a different type of number: {now} now, {before} before"
        assert cause.remedy == "pass one type of number in every call, such as int(value)"
        assert differences(call(n=now), earlier[1])[0].reason.startswith("static argument n has a different value")


def test_of_calls_equally_alike_it_is_the_newest() -> None:
    newest = call(n="2")
    assert most_alike(call(n="3"), [call(n="1"), newest]) is newest


def test_a_call_alike_differs_in_nothing() -> None:
    alike = call({"x": F32})
    assert most_alike(call({"x": F32}), [call({"x": F64}), alike]) is alike
    assert differences(call({"x": F32}), alike) == []


def test_where_arguments_were_not_looked_at_nothing_is_known() -> None:
    for now, earlier in ((call(), []), (call(call_signature=None), [call()]), (call(), [call(call_signature=None)])):
        assert most_alike(now, earlier) is None


def test_placement_is_compared_with_a_call_of_the_same_types() -> None:
    def at(kind: str, place: str) -> Call:
        return call({"x": Leaf(type=kind, placement=place)})

    earlier = [at("f32[4]", "cpu:0"), at("f32[8]", "cpu:1")]
    cause = placement_difference(at("f32[4]", "cpu:1"), earlier)
    assert cause is not None
    assert cause.reason == "argument x has a different placement: cpu:1 now, cpu:0 before"
    assert placement_difference(at("f32[8]", "cpu:1"), earlier) is None


@pytest.mark.parametrize(
    ("now", "earlier", "nearest"),
    [
        # A different dtype alone is nearer than a different shape and dtype, although that call was the last one.
        ({"x": "bf16[4]"}, [{"x": "f32[4]"}, {"x": "f32[8]"}], 0),
        ({"x": "f32[4]"}, [{"x": "f32[8]"}, {"x": "i32[]"}], 0),
        ({"p['a']": "f32[4]"}, [{"p['a']": "f32[4]", "p['b']": "f32[4]"}, {"p[0]": "f32[4]", "p[1]": "f32[4]"}], 0),
        ({"x": "f32[4]"}, [{"x": "f32[8]"}, {"x": "f32[9]"}], 1),  # the latest of equally near calls
        ({"x": "f32[8,33]"}, [{"x": "f32[8,65]"}, {"x": "f32[5,65]"}], 0),  # fewer dimensions differ
        ({"x": "f32[8,33]"}, [{"x": "bf16[8,33]"}, {"x": "f32[33]"}, {"x": "f32[]"}], 0),  # a different rank is far
    ],
)
def test_the_nearest_call_differs_in_the_fewest_things(
    now: dict[str, str], earlier: list[dict[str, str]], nearest: int
) -> None:
    def of(types: dict[str, str]) -> Call:
        return call({path: Leaf(type=each, placement=None) for path, each in types.items()})

    calls = [of(each) for each in earlier]
    assert most_alike(of(now), calls) is calls[nearest]


def test_fewer_leaves_that_differ_are_nearer_than_more_that_differ_in_less() -> None:
    pythons, arrays = (
        call({"w": w, "obs": obs})
        for w, obs in ((F32, FLOAT), (Leaf(type="bf16[4]", placement=None), Leaf(type="f32[]", placement=None)))
    )
    now = call({"w": F32, "obs": F32})
    assert most_alike(now, [pythons, arrays]) is pythons
    assert [each.argument for each in differences(now, pythons)] == ["obs"]
    assert most_alike(now, [call({"w": F64, "obs": F64}), call({"w": I32, "obs": F32})]).leaves["w"] is I32  # type: ignore[union-attr]


def test_a_sharding_is_a_difference_as_a_setting_is_one() -> None:
    split = Leaf(type="f32[4@i]", placement=None)
    plain, other = call({"x": F32}), replace(call({"x": F32}), settings={"jax_numpy_rank_promotion": "raise"})
    now = replace(other, context=2)
    plain, sharded = replace(plain, context=1), replace(call({"x": split}), context=1)
    assert most_alike(now, [plain, sharded]) is plain
    assert most_alike(now, [plain, replace(sharded, context=2)]).leaves["x"] is split  # type: ignore[union-attr]
    known = replace(plain, settings={"jax_numpy_rank_promotion": "allow"})
    assert most_alike(now, [replace(sharded, context=2), known]) is known  # a setting is one difference, named or not


def test_of_calls_equally_alike_it_is_the_one_whose_arrays_lie_in_the_same_place() -> None:
    here, there = (call({"x": Leaf(type="f32[8]", placement=place)}) for place in ("cpu:0", "cpu:1"))
    now = call({"x": Leaf(type="f32[4]", placement="cpu:0")})
    assert most_alike(now, [here, there]) is here
    assert most_alike(now, [there, here, there]) is here


def test_a_default_that_is_replaced_by_another_static_value_is_one_difference() -> None:
    default = call({"x": F32}, n="1")
    given = call({"x": I32}, n="2", call_signature=(1, ("n",)))
    now = call({"x": F32}, n="2", call_signature=(1, ("n",)))
    assert most_alike(now, [default, given]) is default  # a different shape and dtype are two


def test_of_calls_equally_alike_it_is_the_one_whose_modules_hold_the_most_equal_values() -> None:
    def module(number: int, **values: int) -> Call:
        held = {f"m.{name}": Held("number", str(value), value, 0) for name, value in values.items()}
        return replace(call(m=f"a GraphDef (value {number:#x})"), static_contents={"m": held})

    train, evaluate = module(1, rate=1, deterministic=0), module(2, rate=1, deterministic=1)
    assert most_alike(module(3, rate=2, deterministic=0), [train, evaluate]) is train
    assert most_alike(module(3, rate=2, deterministic=1), [evaluate, train]) is evaluate


def test_keys_of_an_ordered_dict_in_another_order_are_another_container() -> None:
    def ordered(container: str) -> Call:
        return replace(call({"x['a']": F32, "x['b']": F32}), containers={"x": container})

    now, other = ordered("OrderedDict('b', 'a')[*, *]"), ordered("OrderedDict('a', 'b')[*, *]")
    assert most_alike(now, [ordered("dict[*, *]"), other]) is other
    ((cause,), (kind,)) = (differences(now, each) for each in (other, ordered("dict[*, *]")))
    assert (cause.now, cause.before) == ("OrderedDict('b', 'a')", "OrderedDict('a', 'b')")
    assert (kind.now, kind.before) == ("OrderedDict", "dict")


def test_placement_is_compared_with_the_call_of_which_fewest_arrays_lie_elsewhere() -> None:
    def at(*places: str) -> Call:
        return call({f"x{at}": Leaf(type="f32[4]", placement=place) for at, place in enumerate(places)})

    cause = placement_difference(at("a", "a", "b"), [at("a", "a", "a"), at("b", "b", "b")])
    assert cause is not None
    assert cause.reason == "argument x2 has a different placement: b now, a before"
    both = placement_difference(at("a", "a"), [at("b", "b")])
    assert both is not None
    assert both.reason == (
        "argument x0 has a different placement: a now, b before; and other differences at x1 (a now, b before)"
    )
    assert both.remedy == "place the arguments once, with jax.device_put(x, sharding)"


def test_a_static_argument_that_is_given_by_default_has_a_value() -> None:
    before = call({"x": F32}, mode="'a'", call_signature=(1, ()))
    (cause,) = differences(call({"x": F32}, mode="'b'", call_signature=(1, ("mode",))), before)
    assert cause.reason == "static argument mode has a different value: 'b' now, 'a' before"


@pytest.mark.parametrize(
    ("now", "new"),
    [
        ("Tx(init=sgd.<locals>.init (object 0x3))", ("tx",)),
        ("Tx(init=sgd.<locals>.init (object 0x1))", ()),  # an earlier call had it
        ("Tx(init=adam.<locals>.init (object 0x3))", ()),  # no earlier call had one like it
        ("Tx(init=None)", ()),
    ],
)
def test_a_static_value_is_a_new_object_if_only_others_like_it_were_passed(now: str, new: tuple[str, ...]) -> None:
    earlier = [call(tx=f"Tx(init=sgd.<locals>.init (object {each}))") for each in ("0x1", "0x2")]
    assert new_objects(call(tx=now), earlier) == new
    assert new_objects(call(tx=now), []) == ()
