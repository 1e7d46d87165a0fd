"""Tells which loop of JAX could replace a loop of Python."""

from __future__ import annotations

import ast

from .loops.loop_facts import appended, assigns, carried, counter_of, is_range, iterated, reads
from .syntax import Loop, last_name


def way_of(loop: Loop) -> str:
    """Return the loop of JAX that could replace a loop.

    ``"fori_loop"``; ``"scan"`` over arrays that a counter indexes, or for results that are collected; ``"layers"``, a
    scan over the stacked parameters of calls that differ in nothing else; or ``"vmap"``, if no iteration needs the
    result of another.
    """
    if isinstance(loop, ast.While):
        return "fori_loop"
    if not isinstance(loop, ast.For):
        element = [loop.key, loop.value] if isinstance(loop, ast.DictComp) else [loop.elt]
        depends = set().union(*map(reads, element)) & assigns([each.target for each in loop.generators])
        return "vmap" if depends and is_range(iterated(loop)) else "scan"
    collected, counter = appended(loop), counter_of(loop)
    if collected and not carried(loop) and all(isinstance(each, ast.Assign | ast.Expr) for each in loop.body):
        return "vmap"
    if collected != []:
        return "scan"
    if counter is None and is_range(loop.iter):
        return "fori_loop"
    if counter is None or has_layers(loop):
        return "layers"
    return "scan" if counter.indexed else "fori_loop"


def has_layers(loop: ast.For) -> bool:
    """Return whether a loop makes a layer in each iteration, or calls one that the counter chooses."""
    calls = (node.func for each in loop.body for node in ast.walk(each) if isinstance(node, ast.Call))
    counters = assigns([loop.target])
    return any(
        (isinstance(called, ast.Subscript) and reads(called.slice) & counters)
        or (isinstance(called, ast.Call) and (last_name(called.func) or "")[:1].isupper())
        for called in calls
    )


def mapped_rows(loop: Loop) -> str:
    """Return ``jax.vmap`` in place of a comprehension over the rows of an array; empty if it cannot be written.

    >>> mapped_rows(ast.parse("[f(w, x) for x in xs]", mode="eval").body)
    'jax.vmap(lambda x: f(w, x))(xs)'
    """
    match loop:
        case ast.ListComp(generators=[each]) | ast.GeneratorExp(generators=[each]):
            is_plain = isinstance(each.target, ast.Name) and isinstance(each.iter, ast.Name | ast.Attribute)
            if is_plain and not each.ifs and not each.is_async:
                item, body, rows = map(ast.unparse, (each.target, loop.elt, each.iter))
                return f"jax.vmap(lambda {item}: {body})({rows})"
    return ""
