"""Random programs by a seed: loops, branches, calls and batches inside of each other, over a few small arrays."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

State = tuple[Any, ...]

#: What is done to a state; it keeps the shapes and types, so that each of them can be the body of a loop.
Step = Callable[[State], State]

_SHAPES = ((), (8,), (300,), (16, 16), (5, 7, 3), (1024,))
_DTYPES = (np.float32, np.float32, np.float32, np.int32, jnp.bfloat16)


def random_program(seed: int) -> tuple[Any, tuple[Any, ...]]:
    """A jitted function and its arguments."""
    random = Random(seed)
    kinds = [(random.choice(_SHAPES), random.choice(_DTYPES)) for _ in range(random.randint(1, 4))]
    kinds += random.sample(kinds, random.randint(0, len(kinds)))  # leaves that can change places
    step = _steps(random, kinds, depth=random.choice((1, 1, 2, 2, 3)))
    returned = [random.randrange(len(kinds)) for _ in range(random.randint(1, len(kinds) + 1))]
    passed = [random.randrange(len(kinds)) for _ in range(random.randint(0, 1))]
    stacked = random.random() < 0.3
    split = random.randint(0, len(kinds))

    def program(first: State, second: dict[str, Any]) -> Any:
        state = (*first, *second["rest"])
        after = step(state)
        history = jax.lax.scan(lambda now, _: (step(now), now), after, None, length=3)[1] if stacked else ()
        return [after[index] for index in returned], [state[index] for index in passed], history

    leaves = [jnp.ones(shape, dtype) for shape, dtype in kinds]
    donated = tuple(index for index in (0, 1) if random.random() < 0.3)
    return jax.jit(program, donate_argnums=donated), (tuple(leaves[:split]), {"rest": leaves[split:]})


def _steps(random: Random, kinds: list[Any], depth: int) -> Step:
    """Several steps, one after the other."""
    made = [
        random.choice(_SIMPLE if not depth else _ALL)(random, kinds, depth - 1)
        for _ in range(random.randint(1, 2 + (depth > 0)))
    ]

    def steps(state: State) -> State:
        for each in made:
            state = each(state)
        return state

    return steps


def _replaced(state: State, index: int, value: Any) -> State:
    return (*state[:index], value.astype(state[index].dtype), *state[index + 1 :])


def _elementwise(random: Random, kinds: list[Any], _: int) -> Step:
    index, factor = random.randrange(len(kinds)), random.choice((0.5, 2, 3))
    operation = random.choice((jnp.tanh, jnp.abs, lambda x: jnp.sort(x.ravel()).reshape(x.shape), jnp.flip))
    return lambda state: _replaced(state, index, operation(state[index] * factor))


def _combined(random: Random, kinds: list[Any], _: int) -> Step:
    index, other = random.randrange(len(kinds)), random.randrange(len(kinds))
    return lambda state: _replaced(state, index, state[index] + state[other].sum())


def _product(random: Random, kinds: list[Any], _: int) -> Step:
    index = random.randrange(len(kinds))

    def product(state: State) -> State:
        wide = jnp.outer(state[index], jnp.arange(6)).astype(jnp.float32)
        return _replaced(state, index, (jnp.sin(wide) @ wide.T @ wide).sum(1).reshape(state[index].shape))

    return product if np.prod(kinds[index][0]) <= 64 else _combined(random, kinds, 0)


def _constant(random: Random, kinds: list[Any], _: int) -> Step:
    index = random.randrange(len(kinds))
    array = np.random.default_rng(random.randrange(99)).normal(size=kinds[index][0])
    return lambda state: _replaced(state, index, state[index] + array)


def _swapped(random: Random, kinds: list[Any], _: int) -> Step:
    """Two leaves of one kind change places, or one becomes the other."""
    index = random.randrange(len(kinds))
    other = random.choice([at for at, kind in enumerate(kinds) if kind == kinds[index]])
    both = random.random() < 0.7

    def swapped(state: State) -> State:
        after = _replaced(state, index, state[other])
        return _replaced(after, other, state[index]) if both else after

    return swapped


def _updated(random: Random, kinds: list[Any], _: int) -> Step:
    index = random.randrange(len(kinds))

    def updated(state: State) -> State:
        x = state[index]
        return _replaced(state, index, x.at[:2].set(1) if x.ndim else x + 1)

    return updated


def _scan(random: Random, kinds: list[Any], depth: int) -> Step:
    body, index = _steps(random, kinds, depth), random.randrange(len(kinds))
    length, collects, reads = random.choice((1, 3, 50)), random.random() < 0.6, random.random() < 0.3

    def scan(state: State) -> State:
        read = jnp.zeros((length, *state[index].shape), state[index].dtype) if reads else None

        def one(carry: State, x: Any) -> tuple[State, Any]:
            after = body(carry if x is None else _replaced(carry, index, carry[index] + x))
            return after, after[index] * 2 if collects else None

        after, seen = jax.lax.scan(one, state, read, length=length)
        return _replaced(after, index, after[index] + seen.sum(0)) if collects else after

    return scan


def _while(random: Random, kinds: list[Any], depth: int) -> Step:
    body, index = _steps(random, kinds, depth), random.randrange(len(kinds))

    def going_on(carry: Any) -> Any:
        return (carry[1] < 4) & (carry[0][index].sum() < 1e9)

    return lambda state: jax.lax.while_loop(going_on, lambda carry: (body(carry[0]), carry[1] + 1), (state, 0))[0]


def _fori(random: Random, kinds: list[Any], depth: int) -> Step:
    body, times = _steps(random, kinds, depth), random.choice((0, 1, 7))
    return lambda state: jax.lax.fori_loop(0, times, lambda _, now: body(now), state)


def _cond(random: Random, kinds: list[Any], depth: int) -> Step:
    one, other, index = (_steps(random, kinds, depth), _steps(random, kinds, depth), random.randrange(len(kinds)))
    return lambda state: jax.lax.cond(state[index].sum() > 0, one, other, state)


def _switch(random: Random, kinds: list[Any], depth: int) -> Step:
    branches = [_steps(random, kinds, depth), lambda state: state, _steps(random, kinds, depth)]
    index = random.randrange(len(kinds))
    return lambda state: jax.lax.switch(state[index].sum().astype(int), branches, state)


def _call(random: Random, kinds: list[Any], depth: int) -> Step:
    inner, twice = jax.jit(_steps(random, kinds, depth)), random.random() < 0.5
    return lambda state: inner(inner(state)) if twice else inner(state)


def _batch(random: Random, kinds: list[Any], depth: int) -> Step:
    one, count = _steps(random, kinds, depth), random.choice((2, 5))

    def batch(state: State) -> State:
        several = tuple(jnp.stack([leaf] * count) for leaf in state)
        after = jax.vmap(one)(several)
        return tuple(leaf[-1] for leaf in after)

    return batch


def _checkpointed(random: Random, kinds: list[Any], depth: int) -> Step:
    """The gradient through a loop, which keeps what every step has left, or makes it again."""
    length, again = random.choice((2, 6)), random.random() < 0.5

    def layer(x: Any, _: Any) -> tuple[Any, None]:
        return jnp.sin(x) * jnp.cos(x + 1), None

    body = jax.checkpoint(layer) if again else layer
    index = random.randrange(len(kinds))

    def loss(x: Any) -> Any:
        return (jax.lax.scan(body, x, None, length=length)[0] ** 2).sum()

    return lambda state: _replaced(state, index, jax.grad(loss)(state[index].astype(jnp.float32)))


_SIMPLE = (_elementwise, _combined, _product, _constant, _swapped, _updated)
_ALL = (*_SIMPLE, _scan, _scan, _while, _fori, _cond, _switch, _call, _call, _batch, _checkpointed)
