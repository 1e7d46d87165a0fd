"""Splits the scope of an operation into its steps, and says in words what they are: passes and transformations."""

from __future__ import annotations

import re

#: A transformation around a name, which may be empty: ``jvp()``.
_AROUND = re.compile(r"(?P<by>\w+)\((?P<name>.*)\)", re.DOTALL)

#: JAX writes this around the steps of a backward pass.
BACKWARD = "transpose(jvp("

#: Steps that JAX adds for control flow, rematerialization and calls, and einsum's specifications.
_STRUCTURE = re.compile(
    r"while|body|cond|scan|branch_\d+_fun|checkpoint|rematted_computation|remat\d*|eval_jaxpr|shard_map|pmap|pallas_call"
    r"|(closed|core|custom_jvp|custom_vjp)_call|custom_lin|.*(,|->).*"
)


def steps(scope: str) -> list[str]:
    """Split a scope into its steps; slashes in parentheses do not split.

    >>> steps("jit(f)/jit(main)/layer/transpose(jvp(a/b))/dot_general")
    ['jit(f)', 'layer', 'transpose(jvp(a/b))', 'dot_general']
    """
    found, begin, depth = [], 0, 0
    for at, letter in enumerate(f"{scope}/"):
        depth += (letter == "(") - (letter == ")")
        if letter == "/" and depth <= 0:
            found.append(scope[begin:at])
            begin = at + 1
    return [each for each in found if each and each != "jit(main)"]


def spoken(scope: str, has_backward: bool) -> str:
    """Say what a scope is.

    >>> spoken("jit(sgd)/jvp()/dot_general", True), spoken("jit(sgd)/transpose(jvp())/dot_general", True)
    ('jit(sgd)/forward/dot_general', 'jit(sgd)/backward/dot_general')
    """
    return "/".join(spoken_step(each, has_backward) for each in steps(scope))


def spoken_step(step: str, has_backward: bool) -> str:
    """Say what a step of a scope is; jitted functions keep JAX's name.

    Args:
        step: the step.
        has_backward: whether there is a backward pass, so that ``jvp`` is the forward pass of it.

    >>> [spoken_step(each, True) for each in ("jvp()", "jvp(Dense_0)", "transpose(jvp(Dense_0))", "transpose(jvp())")]
    ['forward', 'forward of Dense_0', 'backward of Dense_0', 'backward']
    >>> [spoken_step(each, True) for each in ("vmap(jvp(a/b))", "vmap()", "jit(f)", "dot")]
    ['vmap of forward of a/b', 'vmap', 'jit(f)', 'dot']
    >>> spoken_step("jvp(Dense_0)", False)
    'jvp of Dense_0'
    """
    around = _AROUND.fullmatch(step)
    if around is None or around["by"] not in ("jvp", "transpose", "vmap"):
        return step
    by, name = around["by"], around["name"]
    inner = _AROUND.fullmatch(name)
    if by == "transpose" and inner is not None and inner["by"] == "jvp":
        by, name = "backward", inner["name"]
    elif by == "jvp" and has_backward:
        by = "forward"
    return f"{by} of {spoken_step(name, has_backward)}" if name else by


def brief(spoken: str) -> str:
    """Shorten what :func:`spoken_step` says; the pass remains in front of the name, so that it is cut last.

    >>> brief("backward of Dense_0"), brief("vmap of forward of a/b"), brief("jit(f)")
    ('bwd Dense_0', 'vmap fwd a/b', 'jit(f)')
    """
    return _SPOKEN.sub(lambda found: f"{_BRIEF.get(found[1], found[1])} ", spoken)


#: What is said before a name, and the usual short forms of the passes.
_SPOKEN = re.compile(r"\b(backward|forward|jvp|transpose|vmap) of ")
_BRIEF = {"backward": "bwd", "forward": "fwd"}


def given_names(step: str) -> list[str]:
    """Return the names in a step that do not come from JAX itself: those of scopes and modules.

    >>> given_names("transpose(jvp(a/while/b))"), given_names("jvp(jit(sort))"), given_names("Dense_0")
    (['a', 'b'], [], ['Dense_0'])
    >>> [given_names(each) for each in ("transpose(jvp())", "while", "branch_0_fun", "vmap()", "ij,jk->ik")]
    [[], [], [], [], []]
    """
    around = _AROUND.fullmatch(step)
    if jitted(step) is not None or _STRUCTURE.fullmatch(step):
        return []
    return [step] if around is None else [name for each in steps(around["name"]) for name in given_names(each)]


def jitted(step: str) -> str | None:
    """Return the name of a jitted function; ``None`` if the step is none.

    >>> jitted("jit(f)"), jitted("jvp(f)")
    ('f', None)
    """
    around = _AROUND.fullmatch(step)
    return around["name"] if around is not None and around["by"] in ("jit", "pjit") else None
