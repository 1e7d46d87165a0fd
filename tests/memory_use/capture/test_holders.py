"""Twelve leaks and more are found by the names of their holders, and no code of the user is run."""

from __future__ import annotations

import contextvars
import functools
import gc
import queue
import sys
import threading
import types
import weakref
from collections import UserDict, deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.memory_use.capture.holders import find_holders
from jaxmagic.session.shown_errors import keep_last_shown


class Model:
    shared: Any = None

    def __init__(self, w: Any = None) -> None:
        self.w = w

    def apply(self) -> None: ...


class Slotted:
    __slots__ = ("unset", "w")

    def __init__(self, w: Any) -> None:
        self.w = w


@pytest.fixture
def a() -> Any:
    return jnp.ones(3)


@pytest.fixture(autouse=True)
def no_last_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the error of another test that has failed."""
    for name in ("last_exc", "last_value", "last_traceback"):
        monkeypatch.delattr(sys, name, raising=False)


def names(array: Any, namespace: dict[str, Any]) -> list[str]:
    found = find_holders([array], namespace, limit_s=60)  # the modules of all tests are searched as well
    assert found.complete
    return found.names.get(id(array), [])


def closure(w: Any) -> Any:
    def f() -> Any:
        return w

    return f


def default(value: Any) -> Any:
    def f(x: int, w: Any = value, *, k: Any = None) -> Any:
        return w

    return f


def keyword_default(value: Any) -> Any:
    def f(*, w: Any = value) -> Any:
        return w

    return f


def generator(value: Any) -> Any:
    def make(w: Any) -> Iterator[int]:
        yield 1
        yield len(w)

    made = make(value)
    next(made)
    return made


def coroutine(value: Any) -> Any:
    async def make(w: Any) -> None:
        await Pause()
        del w

    made = make(value)
    made.send(None)
    return made


class Pause:
    def __await__(self) -> Iterator[None]:
        yield


def failed(value: Any) -> BaseException:
    def g(h: Any) -> None:
        raise RuntimeError

    try:
        g({"x": value})
    except RuntimeError as error:
        return error
    raise AssertionError


def cached(value: Any) -> Any:
    @functools.lru_cache
    def f(n: int) -> Any:
        return value if n < 0 else n  # the default below holds the array

    f(-1)
    return f


def thread_local(value: Any) -> Any:
    made = threading.local()
    made.w = value
    return made


def context_variable(value: Any) -> Any:
    made: Any = contextvars.ContextVar("v")
    contextvars.ContextVar("unset")
    made.set(value)
    return made


def with_default(value: Any) -> Any:
    return contextvars.ContextVar("d", default=value)


def records(value: Any) -> Any:
    """An array of records, of which one field has objects in a record of its own, and another one an array."""
    pair = np.dtype([("n", np.int32), ("o", object)])
    made = np.zeros(2, dtype=[("n", np.int32), ("pair", pair), ("many", object, (2,))])
    made["pair"]["o"][1] = value
    return made


def many(value: Any) -> Any:
    made = records(None)
    made["many"][1, 0] = value
    return made


class LyingRecords(np.ndarray):  # type: ignore[type-arg]
    def __array_finalize__(self, _: Any) -> None:
        assert self.dtype.names == ("n", "pair", "many"), "code of the user's was run"


def queued(value: Any) -> Any:
    made: Any = queue.SimpleQueue()
    made.put(value)
    return made


def module(value: Any) -> Any:
    made = types.ModuleType("mine")
    made.__dict__["w"] = value
    return made


def class_with(value: Any) -> Any:
    return type("Mine", (Model,), {"w": value, "__module__": "__main__"})


@pytest.mark.parametrize(
    ("hold", "name"),
    [
        pytest.param(lambda a: a, "v", id="global"),
        pytest.param(lambda a: [0, a], "v[1]", id="list"),
        pytest.param(lambda a: {"w": a}, "v['w']", id="dict"),
        pytest.param(lambda a: {"layer1": [(0, a)]}, "v['layer1'][0][1]", id="nested"),
        pytest.param(closure, "v (closure: w)", id="closure"),
        pytest.param(default, "v (default: w)", id="default"),
        pytest.param(keyword_default, "v (default: w)", id="keyword-default"),
        pytest.param(Model, "v.w", id="attribute"),
        pytest.param(Slotted, "v.w", id="slot"),
        pytest.param(class_with, "v.w", id="class"),
        pytest.param(lambda a: class_with(a)(), "type(v).w", id="class-of-instance"),
        pytest.param(lambda a: type("Sub", (class_with(a),), {}), "v.w", id="base-class"),
        pytest.param(generator, "v (local: w)", id="generator"),
        pytest.param(coroutine, "v (local: w)", id="coroutine"),
        pytest.param(lambda a: Model(a).apply, "v.__self__.w", id="bound-method"),
        pytest.param(lambda a: [a].append, "v.__self__[0]", id="built-in-method"),
        pytest.param(lambda a: functools.partial(max, a), "v.args[0]", id="partial"),
        pytest.param(lambda a: functools.partial(max, key=a), "v.keywords['key']", id="partial-keyword"),
        pytest.param(failed, "v: frame g, variable h['x']", id="exception"),
        pytest.param(lambda a: failed(a).__traceback__, "v: frame g, variable h['x']", id="traceback"),
        pytest.param(lambda a: RuntimeError(a), "v.args[0]", id="exception-argument"),
        pytest.param(module, "v.w", id="module"),
        pytest.param(lambda a: deque([0, a]), "v[1]", id="deque"),
        pytest.param(lambda a: {Slotted(a)}, "list(v)[0].w", id="set"),
        pytest.param(lambda a: {Slotted(a): 1}, "list(v)[0].w", id="key"),
        pytest.param(lambda a: {Slotted(0): a}, "v[<Slotted>]", id="value-of-odd-key"),
        pytest.param(lambda a: closure(a).__closure__[0], "v (inside)", id="cell"),
        pytest.param(lambda a: iter([a]), "v (inside)[0]", id="iterator"),
        pytest.param(lambda a: types.SimpleNamespace(w=a), "v.w", id="simple-namespace"),
        pytest.param(lambda a: np.array([None, a], dtype=object), "v[1]", id="numpy-objects"),
        pytest.param(lambda a: np.array([[None, [a]]], dtype=object), "v[(0, 1)][0]", id="numpy-matrix-of-objects"),
        pytest.param(records, "v['pair']['o'][1]", id="numpy-records"),
        pytest.param(many, "v['many'][(1, 0)]", id="numpy-objects-in-records"),
        pytest.param(lambda a: records([a]), "v['pair']['o'][1][0]", id="list-in-numpy-records"),
        pytest.param(lambda a: records(a)[1], "v['pair']['o']", id="numpy-record"),
        pytest.param(lambda a: many(a)[1], "v['many'][0]", id="objects-in-a-numpy-record"),
        pytest.param(lambda a: records(a)[1]["pair"], "v['o']", id="part-of-a-numpy-record"),
        pytest.param(lambda a: many(a)[:1][0], "v.base.base['many'][(1, 0)]", id="base-of-a-numpy-record"),
        pytest.param(lambda a: records(a).view(np.recarray), "v['pair']['o'][1]", id="numpy-recarray"),
        pytest.param(lambda a: records(a).view(LyingRecords), "v['pair']['o'][1]", id="own-numpy-records"),
        pytest.param(np.asarray, "v.base.obj", id="numpy-view"),
        pytest.param(lambda a: np.asarray(a)[1:], "v.base.base.obj", id="part-of-a-numpy-view"),
        pytest.param(thread_local, "v.w", id="thread-local"),
        pytest.param(context_variable, "v.get()", id="context-variable"),
        pytest.param(with_default, "v (default)", id="default-of-a-context-variable"),
        pytest.param(lambda a: types.MappingProxyType({"w": a}), "v['w']", id="mapping-proxy"),
        pytest.param(lambda a: types.MappingProxyType(UserDict(w=a)), "v (inside).data['w']", id="other-proxy"),
        pytest.param(queued, "v (inside)[0]", id="queue"),
        pytest.param(lambda a: jax.tree_util.Partial(max, a), "v.args[0]", id="jax-partial"),
        pytest.param(lambda a: jax.jit(closure(a)), "v.__wrapped__ (closure: w)", id="jitted"),
        pytest.param(lambda a: property(closure(a)), "v.fget (closure: w)", id="property"),
        pytest.param(lambda a: closure([Slotted(a)]), "v (closure: w[0].w)", id="inside-a-closure"),
    ],
)
def test_a_leak_is_found_by_its_name(a: Any, hold: Any, name: str) -> None:
    holder = hold(a)
    assert name in names(a, {"v": holder})
    if hasattr(holder, "close"):
        holder.close()


def test_a_leak_in_a_cache_is_found(a: Any) -> None:
    assert "v (cache)" in names(a, {"v": cached(a)})


@pytest.mark.parametrize("where", ["last_value", "last_exc", "last_traceback"])
def test_a_leak_in_the_last_traceback_is_found(a: Any, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error = failed(a)
    monkeypatch.setattr(sys, where, error.__traceback__ if "trace" in where else error, raising=False)
    assert names(a, {}) == [
        "last traceback: frame g, variable h['x']",
        "last traceback: frame failed, variable value",
    ]


def test_a_leak_in_the_traceback_before_an_error_about_usage_is_found(
    a: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = SyntaxError()
    keep_last_shown(usage, failed(a))
    monkeypatch.setattr(sys, "last_value", usage, raising=False)
    monkeypatch.delattr(sys, "last_exc", raising=False)
    monkeypatch.delattr(sys, "last_traceback", raising=False)
    assert names(a, {}) == [
        "last traceback: frame g, variable h['x']",
        "last traceback: frame failed, variable value",
    ]


@pytest.mark.parametrize(
    ("module", "read"),
    [
        ("IPython.core.interactiveshell", False),
        ("ipykernel.zmqshell", False),
        ("jaxmagic.memory_use.magic", False),
        ("decorator", False),
        ("jaxmagic.memory_use.verbs", True),  # its arguments may be held by nothing else
        ("IPythonic", True),
        (None, True),
        (7, True),
    ],
)
def test_frames_of_the_shell_in_a_traceback_are_no_holders(
    a: Any, module: Any, read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = {"__name__": module, "Stop": ZeroDivisionError}
    exec("def run(local_ns):\n    raise Stop", namespace)
    with pytest.raises(ZeroDivisionError) as caught:
        namespace["run"]({"w": a})  # type: ignore[operator]
    error: Any = caught.value
    error.__traceback__ = error.__traceback__.tb_next  # without this test's own frame
    monkeypatch.setattr(sys, "last_value", error, raising=False)
    del caught
    expected = ["last traceback: frame run, variable local_ns['w']"] if read else []
    assert names(a, {"w": a}) == ["w", *expected]


@pytest.mark.parametrize(
    ("file", "module", "name"),
    [
        ("/opt/lib/python3.11/site-packages/jax/_src/pjit.py", "jax._src.pjit", "last traceback: a call inside jax"),
        ("/opt/lib/python3.11/site-packages/jax/_src/pjit.py", None, "last traceback: a call inside a library"),
        ("/home/me/train.py", "train", "last traceback: frame run, variable args[0]"),
    ],
)
def test_variables_of_a_library_in_a_traceback_are_named_by_the_library(
    a: Any, file: str, module: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace: dict[str, Any] = {"__name__": module}
    exec(compile("def run(*args):\n    raise ZeroDivisionError", file, "exec"), namespace)
    with pytest.raises(ZeroDivisionError) as caught:
        namespace["run"](a)
    error: Any = caught.value
    error.__traceback__ = error.__traceback__.tb_next  # without this test's own frame
    monkeypatch.setattr(sys, "last_value", error, raising=False)
    del caught
    assert names(a, {"w": a}) == ["w", name]


def test_a_leak_in_a_cause_is_found(a: Any) -> None:
    error = RuntimeError()
    error.__cause__ = failed(a)
    assert "e.__cause__: frame g, variable h['x']" in names(a, {"e": error})


def test_a_leak_in_a_module_of_the_users_is_found_without_a_name(a: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mine", module(a))
    assert names(a, {}) == ["mine.w"]


def test_the_users_variables_in_a_traceback_come_before_calls_inside_a_library(
    a: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library: dict[str, Any] = {"__name__": "jax._src.pjit"}
    exec(compile("def run(x):\n    raise ZeroDivisionError", "/lib/site-packages/jax/_src/pjit.py", "exec"), library)

    def train_for_many_steps(array_of_the_user: Any) -> None:
        library["run"](array_of_the_user)

    with pytest.raises(ZeroDivisionError) as caught:
        train_for_many_steps(a)
    error: Any = caught.value
    error.__traceback__ = error.__traceback__.tb_next  # without this test's own frame
    monkeypatch.setattr(sys, "last_value", error, raising=False)
    del caught
    assert names(a, {}) == [
        "last traceback: frame train_for_many_steps, variable array_of_the_user",
        "last traceback: a call inside jax",
    ]


def test_outputs_are_named_once(a: Any) -> None:
    out = {7: a}
    namespace = {"_oh": out, "Out": out, "_": a, "__": a, "_7": a, "In": ["x"], "_i7": "x"}
    assert names(a, namespace) == ["_", "__", "Out[7]"]


def test_a_number_that_is_no_output_any_more_is_a_holder(a: Any) -> None:
    assert names(a, {"Out": {}, "_7": a}) == ["_7"]
    assert names(a, {"Out": {7: 1}, "_7": a}) == ["_7"]


def test_what_the_last_output_holds_is_named_from_both(a: Any) -> None:
    value = {"w": a}
    assert names(a, {"Out": {7: value}, "_": value, "_7": value}) == ["_['w']", "Out[7]['w']"]


def test_the_magics_own_names_are_skipped(a: Any) -> None:
    assert names(a, {"__jaxmagic_1__": a}) == []


def test_the_shell_is_not_searched_but_for_the_last_result(a: Any) -> None:
    class Shell:
        def get_ipython(self) -> None: ...

    Shell.__module__ = "IPython.core.interactiveshell"
    shell = Shell()
    shell.everything = {"x": a}  # type: ignore[attr-defined]
    namespace = {"get_ipython": shell.get_ipython, "exit": shell}
    assert names(a, namespace) == []
    shell.last_execution_result = types.SimpleNamespace(result=a)  # type: ignore[attr-defined]
    assert names(a, namespace) == ["get_ipython().last_execution_result.result"]


def test_what_ipython_keeps_when_out_was_reset_is_named(a: Any) -> None:
    class Shell:
        def get_ipython(self) -> Any: ...

    shell = Shell()
    shell.user_ns_hidden = {"_": a, "__": "", "_3": a}  # type: ignore[attr-defined]
    namespace = {"get_ipython": shell.get_ipython}
    assert names(a, namespace)[0] == "get_ipython().user_ns_hidden['_']"
    assert "get_ipython().user_ns_hidden['_3']" in names(a, namespace)
    assert names(a, namespace | {"_": a, "_3": a})[:2] == ["_", "_3"]
    assert "get_ipython().user_ns_hidden['_3']" not in names(a, namespace | {"_": a, "_3": a})


def test_the_traceback_that_ipython_keeps_is_searched_unless_it_is_the_last_one(
    a: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Shell:
        def get_ipython(self) -> Any: ...

    Shell.__module__ = "IPython.core.interactiveshell"
    shell, error = Shell(), failed(a)
    shell.InteractiveTB = types.SimpleNamespace(tb=error.__traceback__)  # type: ignore[attr-defined]
    namespace = {"get_ipython": shell.get_ipython}
    assert "IPython's last traceback: frame g, variable h['x']" in names(a, namespace)
    monkeypatch.setattr(sys, "last_value", error, raising=False)
    assert {each.partition(":")[0] for each in names(a, namespace)} == {"last traceback"}


@pytest.mark.clock
def test_the_attributes_of_a_thread_local_object_with_code_of_its_own_are_not_read(a: Any) -> None:
    class Local(threading.local):
        def __init__(self) -> None:
            made.append(self)

    made: list[Any] = []
    local = Local()
    thread = threading.Thread(target=lambda: names(a, {"v": local}))
    thread.start()
    thread.join()
    assert len(made) == 1


def test_values_beside_the_namespace_have_the_names_they_are_given(a: Any) -> None:
    assert find_holders([a], {}, beside={"Out[7]": [a]}).names[id(a)] == ["Out[7][0]"]


def test_the_module_whose_names_are_searched_is_not_searched_again(a: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("__main__")
    module.x = a  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "__main__", module)
    monkeypatch.setitem(sys.modules, "__mp_main__", module)  # as multiprocessing does
    assert names(a, vars(module)) == ["x"]


def test_all_holders_are_named_the_shortest_first(a: Any) -> None:
    params = {"w": a}
    namespace = {"best_params": params, "params": params, "x": a, "log": [[[params]]]}
    assert names(a, namespace) == ["x", "params['w']", "log[0][0][0]['w']", "best_params['w']"] or names(
        a, namespace
    ) == ["x", "params['w']", "best_params['w']", "log[0][0][0]['w']"]


def test_few_names_are_given_and_each_holder_has_one_first(a: Any) -> None:
    assert len(names(a, {f"name{n}": a for n in range(50)})) == 5
    assert "other_name" in names(a, {"l": [a] * 50, "other_name": a})


def test_a_circle_is_walked_once(a: Any) -> None:
    parent, child = Model(a), Model()
    parent.child, child.parent = child, parent  # type: ignore[attr-defined]
    assert names(a, {"parent": parent}) == ["parent.w"]
    itself: list[Any] = [a]
    itself.insert(0, itself)
    assert names(a, {"itself": itself}) == ["itself[1]"]


def test_weak_references_hold_nothing(a: Any) -> None:
    assert names(a, {"r": weakref.ref(a), "d": weakref.WeakValueDictionary({1: a})}) == []


def test_library_modules_are_not_searched(a: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functools, "planted", a, raising=False)
    assert names(a, {"functools": functools, "jnp": jnp}) == []


def test_a_tracer_that_has_leaked_is_no_obstacle(a: Any) -> None:
    leaked: list[Any] = []
    jax.jit(lambda x: leaked.append(x) or x)(a)
    assert names(a, {"leaked": leaked, "x": a}) == ["x"]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (("a", 1), "v[('a', 1)]"),
        ((1,), "v[(1,)]"),
        (None, "v[None]"),
        (True, "v[True]"),
        (0.5, "v[0.5]"),
        pytest.param(10**5000, "v[<int>]", id="huge"),
        (frozenset([1]), "v[<frozenset>]"),
        ((Model,), "v[(<type>,)]"),
        (tuple(range(9)), "v[<tuple>]"),
    ],
)
def test_only_plain_keys_are_written(a: Any, key: Any, text: str) -> None:
    assert names(a, {"v": {key: a}}) == [text]


def test_long_keys_and_paths_are_cut(a: Any) -> None:
    (name,) = names(a, {"v": {"k" * 1000: a}})
    assert name == f"v['{'k' * 20}…{'k' * 19}']"
    deep: Any = a
    for _ in range(20):
        deep = {"some_key": deep}
    (name,) = names(a, {"v": deep})
    assert len(name) == 120
    assert name.startswith("v['some_key']")
    assert name.endswith("['some_key']")
    assert "…" in name


def fail(*_: Any) -> Any:
    raise AssertionError("code of the user's was run")


class Meta(type):
    __hash__ = __eq__ = __getattribute__ = fail  # type: ignore[assignment]
    __instancecheck__ = __subclasscheck__ = fail


class Hostile(metaclass=Meta):
    __hash__ = __eq__ = __len__ = __iter__ = __bool__ = __getattr__ = __getattribute__ = __repr__ = fail  # type: ignore
    __class__ = property(fail)  # type: ignore[assignment]


class LyingDict(dict):  # type: ignore[type-arg]
    __iter__ = __len__ = __getitem__ = items = values = keys = get = __eq__ = __getattribute__ = fail  # type: ignore


class LyingList(list):  # type: ignore[type-arg]
    __iter__ = __len__ = __getitem__ = __eq__ = __getattribute__ = fail  # type: ignore


class LyingSet(set):  # type: ignore[type-arg]
    __iter__ = __len__ = __contains__ = __eq__ = __getattribute__ = fail  # type: ignore


class LyingFunction:
    __closure__ = __defaults__ = __self__ = property(fail)
    __call__ = __get__ = fail  # type: ignore


class Evasive:
    w: Any

    @property
    def __dict__(self) -> Any:
        return fail()


def hostile(a: Any) -> Any:
    made = object.__new__(Hostile)
    object.__setattr__(made, "w", a)
    return made


def evasive(a: Any) -> Any:
    made = Evasive()
    object.__setattr__(made, "w", a)
    return made


@pytest.mark.parametrize(
    ("hold", "name"),
    [
        (hostile, "v.w"),
        (evasive, "v (inside)"),
        (lambda a: LyingDict(w=a), "v['w']"),
        (lambda a: LyingList([a]), "v[0]"),
        (lambda a: LyingSet([Slotted(a)]), "list(v)[0].w"),
        (lambda a: [LyingFunction(), a], "v[1]"),
        (lambda a: [Hostile, a], "v[1]"),
    ],
    ids=["object", "evasive", "dict", "list", "set", "function", "class"],
)
def test_no_code_of_the_users_is_run(a: Any, hold: Any, name: str) -> None:
    holder = hold(a)
    (found,) = names(a, {"v": holder})
    assert found.startswith(name)


class Ticking:
    """A clock that advances by a step at each reading."""

    def __init__(self, step_ns: int) -> None:
        self.now_ns, self.step_ns, self.read = 0, step_ns, 0

    def __call__(self) -> int:
        self.now_ns += self.step_ns
        self.read += 1
        return self.now_ns


def test_the_search_ends_when_its_time_is_up(a: Any) -> None:
    namespace = {"v": a} | {f"n{n}": [[n]] for n in range(100_000)}
    clock = Ticking(100_000_000)
    found = find_holders([a], namespace, limit_s=0.5, clock=clock)
    assert not found.complete
    assert clock.read <= 7
    assert found.names == {id(a): ["v"]}  # arrays that were found until then have names


def test_one_huge_container_does_not_outlast_the_time(a: Any) -> None:
    clock = Ticking(100_000_000)
    found = find_holders([a], {"v": list(range(90_000))}, limit_s=0.5, clock=clock)
    assert not found.complete
    assert clock.read <= 7


def test_a_large_namespace_is_searched_whole(a: Any) -> None:
    namespace: dict[str, Any] = {f"n{n}": n for n in range(150_000)} | {"last": a}
    found = find_holders([a], namespace, clock=Ticking(0))
    assert found.complete
    assert found.names == {id(a): ["last"]}


@pytest.mark.parametrize("make", [list, tuple, deque, lambda it: dict.fromkeys(it, 0), set])
def test_a_large_container_is_cut_and_said_to_be(a: Any, make: Any) -> None:
    found = find_holders([a], {"v": make(range(1_000_000)), "w": a}, clock=Ticking(0))
    assert found.names == {id(a): ["w"]}
    assert not found.complete


def test_what_lies_too_deep_is_cut(a: Any) -> None:
    deep: Any = a
    for _ in range(100_000):
        deep = [deep]
    found = find_holders([a], {"v": deep}, clock=Ticking(0))
    assert (found.names, found.complete) == ({}, False)
    while type(deep) is list:  # by hand, because Python's own deallocation is recursive
        deep = deep.pop()


def test_a_dictionary_that_changes_meanwhile_is_no_error(a: Any) -> None:
    changing: dict[Any, Any] = {n: n for n in range(5_000)}
    count = 0

    def clock() -> int:
        nonlocal count
        count += 1
        changing[f"new{count}"] = 0
        return 0

    found = find_holders([a], {"v": changing, "w": a}, clock=clock)
    assert found.names == {id(a): ["w"]}
    assert not found.complete


def test_no_array_is_kept_alive() -> None:
    gc.disable()
    try:
        for hold in (lambda a: [a], closure, generator, failed, Model, cached, evasive):
            array = jnp.ones(5)
            reference = weakref.ref(array)
            namespace = {"v": hold(array), "w": array}
            found = find_holders([array], namespace)
            assert found.names
            del array
            namespace.clear()
            if hold is not cached and hold is not failed:  # cycles that Python itself makes
                assert reference() is None, hold
    finally:
        gc.enable()


def test_a_local_of_a_generator_dies_when_the_generator_drops_it() -> None:
    """Reading the variables of a frame leaves a copy in it, before Python 3.13."""

    def make() -> Iterator[int]:
        w = jnp.ones(6)
        references.append(weakref.ref(w))
        yield 1
        del w
        yield 2

    references: list[Any] = []
    running = make()
    next(running)
    assert names(references[0](), {"running": running}) == ["running (local: w)"]
    next(running)
    assert references[0]() is None


def test_a_dictionary_of_locals_that_somebody_has_stays(a: Any) -> None:
    def make(w: Any) -> Iterator[dict[str, Any]]:
        yield locals()
        yield {}

    running = make(a)
    mine = next(running)
    names(a, {"running": running})
    assert mine["w"] is a


def test_a_running_frame_is_left_alone(a: Any) -> None:
    w = a
    kept = locals()
    find_holders([a], {"frame": sys._getframe()})
    assert kept["w"] is w


def test_keys_are_not_kept_alive(a: Any) -> None:
    key = Slotted(1)
    count = sys.getrefcount(key)
    assert names(a, {"v": {key: a}}) == ["v[<Slotted>]"]
    assert sys.getrefcount(key) == count


@pytest.mark.parametrize("way", ["its module", "a dictionary of names", "inside"])
def test_an_object_does_not_hold_what_is_in_its_module(a: Any, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Compiled functions of numba refer to their module, and so to the whole session."""
    mine = types.ModuleType("mine")
    mine.w = mine.gini = a  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mine", mine)
    box: Any = Model({"its module": mine, "a dictionary of names": vars(mine), "inside": [{mine}]}[way])
    found = names(a, {"box": box})
    assert found
    assert [each for each in found if not each.startswith("mine.")] == []


def test_a_package_leads_to_its_modules_and_an_unregistered_module_is_an_object(
    a: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, inner = types.ModuleType("package"), types.ModuleType("package.inner")
    inner.w = a  # type: ignore[attr-defined]
    package.inner = inner  # type: ignore[attr-defined]
    assert names(a, {"box": Model(inner)}) == ["box.w.w"]
    monkeypatch.setitem(sys.modules, "package", package)
    monkeypatch.setitem(sys.modules, "package.inner", inner)
    assert "package.inner.w" in names(a, {"package": package, "box": Model(inner)})


class Pair(NamedTuple):
    mu: Any
    nu: Any


def test_a_field_of_a_named_tuple_is_told_by_its_name(a: Any) -> None:
    assert names(a, {"state": [Pair(None, {"w": a})]}) == ["state[0].nu['w']"]


def test_a_tuple_that_only_pretends_to_have_fields_is_told_by_numbers(a: Any) -> None:
    class Pretended(tuple):  # type: ignore[type-arg]
        _fields = ("mu", "nu")

    assert names(a, {"state": Pretended((1, a))}) == ["state[1]"]


def of_library(name: str, *bases: type, **members: Any) -> Any:
    """An object of a class that looks like one of a library, here of numpy."""
    return type(name, bases, {"__module__": "numpy", "__slots__": (), **members})


def test_the_private_dictionary_of_a_librarys_mapping_is_the_mapping(a: Any) -> None:
    methods = {each: lambda *_: pytest.fail("ran") for each in ("__getitem__", "__iter__", "__len__")}
    kind = of_library("Frozen", Mapping, **methods | {"__slots__": ("_dict", "_hash")})
    frozen = kind()
    frozen._dict, frozen._hash = {"w": a}, None
    assert names(a, {"f": frozen}) == ["f['w']"]
    frozen._hash = {"v": 1}  # it is ambiguous which of both has the items
    assert names(a, {"f": frozen}) == ["f._dict['w']"]


def test_the_only_array_of_a_librarys_object_is_the_object(a: Any) -> None:
    variable = of_library("Variable", __slots__=("_raw_value", "_other"))()
    variable._raw_value, variable._other = a, "x"
    assert names(a, {"v": variable}) == ["v"]
    variable._other = jnp.zeros(2)
    assert names(a, {"v": variable}) == ["v._raw_value"]


def test_a_public_attribute_and_the_users_own_objects_are_told_as_they_are(a: Any) -> None:
    layer = of_library("Layer", __slots__=("w",))()
    layer.w = a
    mine = Model()
    mine._hidden = a  # type: ignore[attr-defined]
    assert names(a, {"layer": layer, "mine": mine}) == ["layer.w", "mine._hidden"]


def test_an_attribute_that_is_named_by_a_number_is_an_item_where_a_library_has_items(a: Any) -> None:
    listed = of_library("List", __slots__=("__dict__",), __getitem__=lambda *_: pytest.fail("ran"))()
    vars(listed)["0"] = a
    assert names(a, {"layers": listed}) == ["layers[0]"]


def test_what_is_under_a_private_name_too_is_told_by_the_other_one(a: Any) -> None:
    found = of_library("Jitted", __slots__=("__dict__",))()
    found._fun = found.__wrapped__ = closure(a)
    assert names(a, {"f": found}) == ["f.__wrapped__ (closure: w)"]


def test_the_globals_of_a_script_that_has_run_are_searched(a: Any) -> None:
    script: dict[str, Any] = {"__name__": "__main__", "out": a}
    exec("def embed(): return out", script)
    assert find_holders([a], {"embed": script["embed"]}).names[id(a)] == ["embed.__globals__['out']"]
    script["__builtins__"] = {"of_python": (b := a + 1)}
    assert find_holders([b], {"embed": script["embed"]}).names == {}
    for held in ({"get_ipython": None}, {"__name__": "jax.numpy"}):  # of the session, and of a library
        assert find_holders([a], {"embed": types.FunctionType(script["embed"].__code__, script | held)}).names == {}
