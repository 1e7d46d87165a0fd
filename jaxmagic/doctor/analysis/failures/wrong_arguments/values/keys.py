"""Explains keys of random numbers that are none, several, or of two kinds, and keys that are used as numbers."""

from __future__ import annotations

from ......records.note import note
from .....record.failure import Failure
from ...expression import expression_of, spelled
from ..explained import SHAPE, Explained, Rule
from ..operands import fact, shortened


def explain_key(failure: Failure) -> Explained:
    """Explain a function of ``jax.random`` that does not get one key, or a key that is used as a number."""
    jax, shape = spelled(failure, "jax"), fact(failure, "shape")
    if fact(failure, "seed"):
        return Explained(note("doctor.error_float_seed"), note("doctor.write_seed", jax=jax))
    if fact(failure, "maker"):
        return Explained(
            note("doctor.error_key_again", maker=fact(failure, "maker")), note("doctor.write_other_key", jax=jax)
        )
    if fact(failure, "numbers"):
        return Explained(
            note("doctor.error_key_numbers", shape=fact(failure, "numbers")), note("doctor.write_key", jax=jax)
        )
    if shape:
        function = fact(failure, "function")
        found = note("doctor.error_several_keys", function=function, shape=shape)
        return Explained(found, note("doctor.write_one_key", function=function, jax=jax))
    if fact(failure, "mixed"):
        return Explained(note("doctor.error_keys_mixed"), note("doctor.write_new_keys", jax=jax))
    if fact(failure, "half") and not (failure.mapped or failure.vmapped):
        return Explained(note("doctor.error_single_number"), note("doctor.write_key", jax=jax))
    if fact(failure, "half"):
        return Explained(note("doctor.error_key_mapped"), note("doctor.write_keys", jax=jax))
    operation, array = fact(failure, "operation"), fact(failure, "array")
    if fact(failure, "taken"):
        failing = expression_of(failure)
        operation = "" if failing is None or failure.library is not None else failing.called or ""
        operation = operation or "a function of JAX"
    if operation or array:
        found = note("doctor.error_key_used", operation=operation, key=_used_key(failure))
        return Explained(found, note("doctor.write_other_key", jax=jax))
    got = fact(failure, "number") or fact(failure, "type").rpartition(".")[2].replace("NoneType", "None")
    found = note("doctor.error_no_key", got=got, dtype=fact(failure, "dtype"))
    return Explained(found, note("doctor.write_key", jax=jax))


def _used_key(failure: Failure) -> str:
    """Return the operand that is a key; empty if it is not known which one is."""
    keys = [each.text for each in failure.operands if (each.type or "").startswith("key<") and each.text]
    unknown = [each.text for each in failure.operands if each.type is None and not _is_number(each.text)]
    found = keys[:1] or (unknown if len(unknown) == 1 else [])
    return shortened(found[0]) if found else ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("ValueError", "key", explain_key,
        rf"(?P<function>\w+) accepts a single key, but was given a key array of shape (?P<shape>{SHAPE}) != \(\)"),
    Rule("TypeError", "key", explain_key,
        r"(?P<operation>[\w-]+) does not accept dtypes .*key<\w+>"),
    Rule("TypeError", "key", explain_key,
        rf"JAX encountered invalid PRNG key data: expected key_data\.shape to end with \(\d+,\); "
        rf"got shape=(?P<numbers>{SHAPE})"),
    Rule("TypeError", "key", explain_key,
        r"(?P<maker>\w+) accepts a scalar seed, but was given a PRNG key"),
    Rule("TypeError", "key", explain_key,
        r"PRNG key seed must be an (?P<seed>integer); got"),
    Rule("TypeError", "key", explain_key,
        r"unexpected PRNG key type <class '(?P<type>.+?)'>"),
    Rule("TypeError", "key", explain_key,
        r"JAX encountered invalid PRNG key data: expected key_data to have ndim, shape, and dtype attributes\. "
        r"Got (?P<number>-?\d[\w.+-]*)$"),
    Rule("TypeError", "key", explain_key,
        r"JAX encountered invalid PRNG key data: expected key_data\.dtype = uint32; got dtype=(?P<dtype>\w+)"),
    Rule("TypeError", "key", explain_key,
        r"JAX array with PRNGKey dtype cannot be converted to a (?P<array>NumPy) array"),
    Rule("TypeError", "key", explain_key,
        r"Cannot interpret '(?P<taken>key<\w+>)' as a data type"),
    Rule("ValueError", "key", explain_key,
        r"dtype=(?P<mixed>key<\w+>) is not a valid dtype for JAX type promotion"),
    Rule("TypeError", "key", explain_key,
        r"JAX encountered invalid PRNG key data: expected key_data\.ndim >= 1; got (?P<half>ndim=0)"),
)
# fmt: on
