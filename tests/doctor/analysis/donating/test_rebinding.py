"""Which arguments a statement replaces, and what else in the code would read or keep their former values."""

from __future__ import annotations

import pytest

from jaxmagic.doctor.analysis.donating.rebinding import replaced_arguments


@pytest.mark.parametrize(
    "code",
    [
        "state = step(*states)",
        "state = step((state, 1))",
        "state = step(**states)",
        "state = other(state)",
        "state: int = 3",
        "states[i] = step(states[i])",
        "state = step(state) + step(state)",
        "state = step(state); lambda: state",
        "state['p'] = step(state)",
        "new = step(state)\nif late:\n    state = new",
        "state",
        "state = step(state",
        "state = start; state = step(state)",
        "state, x = start, 1\nfor _ in range(3):\n    state = step(state)",
        "state = jnp.asarray(start); state = step(state)",
        "state = start['p'].copy(); state = step(state)",
        "other = start; state = other; state = step(state)",
        "for state in states:\n    state = step(state)",
        "state = start or {}; state = step(state)",
        "state = step(state)\nstate.block_until_ready()",
        "def total():\n    return state.sum()\nstate = step(state)",
        "total = lambda: state.sum()\nstate = step(state)",
        "for x in data:\n    best = state\n    state = step(state, x)\nprint(best)",
        "for x in data:\n    state = step(state, x)\n    if x:\n        best = state\nresult = best",
        "for x in data:\n    state = step(state, x)\n    kept.append(state)\nx = 1",
        "for x in data:\n    state = step(state, x)\n    kept[x] = state\nx = 1",
        "for x in data:\n    state = step(state, x)\n    kept += [state]\nx = 1",
        "for x in data:\n    state = step(state, x)\n    kept = kept + [state]\nx = 1",
        "for x in data:\n    state = step(state, x)\n    log(state)\nx = 1",
        "for x in data:\n    state = step(state, x)\n    jax.tree.map(kept.append, state)\nx = 1",
        "state = step(state)\nkept.append(state)\nx = 1",  # the next run deletes what the list holds
        "a = b = []\nb.append(state)\nstate = step(state)\nprint(a)",
        "pairs = [(each, 1) for each in state]\nstate = step(state)\nx = 1",
        "while x:\n    old = state\n    state = step(state)\n    if late:\n        break\n    old = 0\nprint(old)",
        "for x in data:\n    old = state\n    state = step(state)\n    if x:\n        continue\n    old = 0\nx = 1",
        "try:\n    old = state\n    for x in xs:\n        state = step(state)\n    old = 0\nexcept E:\n    f(old)",
        "s.best = s.p\ns.p = step(s.p)\nx = 1",
        "match state:\n    case [first]:\n        pass\nstate = step(state)\nprint(first)",
        "state = step(state)\nstate[0]",  # is displayed
    ],
)
def test_arguments_that_may_be_used_are_left_alone(code: str) -> None:
    assert list(replaced_arguments(code, {"step"})) == []


@pytest.mark.parametrize(
    "code",
    [
        "state = step(state)",
        "state, loss = step(state, x)",
        "*rest, state = step(state, x)",
        "state = step(state['p'])",
        "self.state = step(self.state)",
        "states[0] = step(states[0])",
        "state = step(state)[0]",
        "state = make(start); state = step(state)",
        "state = start + 1; state = step(state)",
        "for x in data:\n    state = step(state, x)\n    print(f'{state.loss}', float(state.loss))",
        "while True:\n    with mesh:\n        state = step(state)",
        "for x in data:\n    state = step(state, x)\nprint(state.sum())",
        "for x in data:\n    state = step(state, x)\nstate.block_until_ready()\nloss = 0",
        "state = step(state)\njax.block_until_ready(state)\nshape = state.shape",
        "for x in data:\n    state = step(state, x)\n    losses.append(state.loss.mean())",
        "for x in data:\n    state = step(state, x)\nresult = state[:20]",
        "for x in data:\n    state = step(state, x)\nresult = (state.position, state.values[:20])",
        "for x in data:\n    state = step(state, x)\nfirst, rest = state[0], total(state)",
        "for x in data:\n    d['p'] = step(d['p'], x)\nresult = d['p'][:20]",
        "for x in data:\n    s.p = step(s.p, x)\n    s.count += 1\nview = s.p.T",
        "for x in data:\n    state = step(state, x)\n    loss = jnp.square(state).mean()\nprint(loss)",
        "for x in data:\n    new, loss = step(state, x)\n    state = new\nlast = new",
        "while True:\n    state = step(state)\n    if state.error < 1:\n        break\nresult = state",
        "state = step(state)\nkept = state.block_until_ready()\nx = 1",
        "state = step(state)\nview = state.reshape(-1)\nx = 1",
        "state = step(state)\nstate = state.at[0].set(1)\ntotal = state + 1",
        "best = 0\nfor x in data:\n    state = step(state)\nbest = state",
        "state = step(state)\ncopied = jax.tree.map(lambda state: state + 1, state)\nx = 1",
        "state = step(state)\nsave(state)",
    ],
)
def test_replaced_arguments_are_seen(code: str) -> None:
    (found,) = replaced_arguments(code, {"step"})
    assert list(found.positions) == [0]


@pytest.mark.parametrize(
    ("code", "arrays", "found"),
    [
        ("state = step(state)\nstate[0, :20]", {"state"}, 1),
        ("state = step(state)\nstate[:20]", {"state"}, 0),  # may be all of it, and then is the same array
        ("for x in data:\n    state = step(state)\n    kept.append(state.copy())\nx = 1", {"state"}, 1),
        ("for x in data:\n    state = step(state)\n    kept.append(state.copy())\nx = 1", (), 0),
        ("for x in data:\n    state = step(state)\n    total += state\nx = 1", {"state"}, 1),
        ("for x in data:\n    state = step(state)\n    total += state\nx = 1", (), 0),  # which may be a list
    ],
)
def test_a_part_or_a_copy_of_an_array_is_another_array(code: str, arrays: set[str], found: int) -> None:
    assert len(list(replaced_arguments(code, {"step"}, arrays))) == found
