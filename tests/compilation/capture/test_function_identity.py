"""Which functions are one object, and which were made from the same source."""

from __future__ import annotations

import functools
from typing import Any

import jax
import pytest
from callables import Scaled, Twice

from jaxmagic.compilation.capture import function_identity as identity
from jaxmagic.compilation.capture.function_identity import defined_at, function_id, source_id


def test_a_function_has_one_number_and_no_later_one_gets_it() -> None:
    def make() -> Any:
        return lambda: None

    function = make()
    first = function_id(function)
    assert first is not None
    assert function_id(function) == first
    numbers = {function_id(make()) for _ in range(20)}  # the same address again and again
    assert len(numbers) == 20
    assert first not in numbers
    assert function_id(3) is None
    kept = len(identity._functions)
    del function
    assert len(identity._functions) == kept - 1


@pytest.mark.parametrize("transform", [jax.vmap, jax.grad, jax.checkpoint, lambda f: functools.partial(f, 1.0)])
def test_the_source_of_a_transformed_function_is_its_own(transform: Any) -> None:
    def make(power: bool) -> Any:
        return (lambda x: x**2) if power else (lambda x: x + 2)

    assert source_id(transform(make(True))) == source_id(transform(make(True)))
    assert source_id(transform(make(True))) != source_id(transform(make(False)))


def test_two_transformations_of_one_function_are_two_sources() -> None:
    def f(x: Any) -> Any:
        return x

    assert len({source_id(transform(f)) for transform in (jax.vmap, jax.grad, jax.checkpoint)}) == 3


def test_functions_of_one_line_that_differ_in_an_operator_are_two_sources() -> None:
    made = [eval(f"lambda x: x {operator} 2") for operator in ("*", "+", "*")]
    times, plus, again = map(source_id, made)
    assert times == again != plus


def test_bound_methods_of_objects_alike_have_one_source() -> None:
    class Model:
        def step(self) -> None: ...

    one, other = Model(), Model()
    assert function_id(one.step) != function_id(one.step)  # each is an object of its own, for JAX, too
    assert source_id(one.step) == source_id(other.step) is not None


def test_the_same_source_on_another_line_is_the_same() -> None:
    first = lambda x: x * 3.5  # noqa: E731
    second = lambda x: x * 3.5  # noqa: E731
    assert source_id(first) == source_id(second)


def test_the_source_of_a_callable_object_is_its_call() -> None:
    def f(x: Any) -> Any:
        return x

    assert source_id(Twice(f)) == source_id(Twice(f))
    assert source_id(Twice(f)) != source_id(f)
    assert source_id(Scaled(2)) == source_id(Scaled(3)) != source_id(Twice(f))
    assert source_id(len) is None
    assert defined_at(Scaled(2)).startswith("callables.py:")


def test_what_a_function_closes_over_is_no_part_of_its_source() -> None:
    made = [lambda x, k=k: x * k for k in (1, 2)]
    assert source_id(made[0]) == source_id(made[1])
    cells = [eval("lambda x: x * scale", {"scale": scale}) for scale in (1, 2)]
    assert source_id(cells[0]) == source_id(cells[1])


def test_the_same_code_in_another_file_is_another_source_and_in_another_cell_is_not() -> None:
    def made(*files: str) -> list[int | None]:
        return [source_id(eval(compile("lambda x: x * 2", file, "eval"))) for file in files]

    one, other = made("/home/me/train.py", "/home/me/test.py")
    assert one != other
    assert (
        len(set(made("/tmp/ipykernel_1/27.py", "/tmp/ipykernel_1/35.py", "<ipython-input-1-abc>", "<string>"))) == 1
    )
