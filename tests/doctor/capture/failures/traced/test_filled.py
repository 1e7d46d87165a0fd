"""A cache gets a value where it has none; a state gets the next value, which is computed of the one before."""

from __future__ import annotations

import ast
import textwrap

import pytest

from jaxmagic.doctor.capture.failures.traced.escapes import stored_into
from jaxmagic.doctor.capture.failures.traced.filled import fills


def filling(body: str, head: str = "def f(self, n, x):") -> list[bool]:
    """Return of each statement with ``table(...)`` whether it fills a cache."""
    tree = ast.parse(f"{head}\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n")
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    return [
        fills(target, node, function)
        for node in ast.walk(function)
        for target in stored_into(node)
        if "table(" in ast.unparse(node) and (isinstance(node, ast.Call) or not isinstance(target, ast.Name))
    ]


#: Code that stores a table where there is none.
CACHES = {
    "none": "if self.basis is None: self.basis = table(x)\nreturn self.basis",
    "none, in another object": "if self.grid.basis is None:\n    self.grid.basis = table(x)\nreturn self.grid.basis",
    "equal to none": "if self.basis == None: self.basis = table(x)\nreturn self.basis",
    "no truth": "if not self.basis: self.basis = table(x)\nreturn self.basis",
    "not in": "if n not in cache: cache[n] = table(n)\nreturn cache[n]",
    "not of in": "if not n in cache: cache[n] = table(n)\nreturn cache[n]",
    "not in, of an attribute": "if (n, 1) not in self.cache: self.cache[n, 1] = table(n)\nreturn self.cache[n, 1]",
    "else of in": "if n in cache:\n    y = cache[n]\nelse:\n    y = cache[n] = table(n)\nreturn y",
    "return if in": "if n in cache: return cache[n]\ny = cache[n] = table(n)\nreturn y",
    "return if not none": "if self.basis is not None: return self.basis\nself.basis = table(x)\nreturn self.basis",
    "hasattr": "if not hasattr(self, 'basis'): self.basis = table(x)\nreturn self.basis",
    "getattr": "if getattr(self, 'basis', None) is None: self.basis = table(x)\nreturn self.basis",
    "vars": "if 'basis' not in vars(self): self.basis = table(x)\nreturn self.basis",
    "__dict__": "if 'basis' not in self.__dict__: self.basis = table(x)\nreturn self.basis",
    "get": "if cache.get(n) is None: cache[n] = table(n)\nreturn cache[n]",
    "get by name": "y = cache.get(n)\nif y is None:\n    y = table(n)\n    cache[n] = y + table(1)\nreturn y",
    "get in the test": "if (y := cache.get(n)) is None:\n    y = cache[n] = table(n)\nreturn y",
    "get with another object": "y = cache.get(n, MISSING)\nif y is MISSING: cache[n] = table(n)\nreturn cache[n]",
    "or": "self.basis = self.basis or table(x)\nreturn self.basis",
    "either": "self.basis = table(x) if self.basis is None else self.basis\nreturn self.basis",
    "setdefault": "return cache.setdefault(n, table(n))",
    "KeyError": "try:\n    return cache[n]\nexcept KeyError:\n    cache[n] = table(n)\nreturn cache[n]",
    "AttributeError": "try:\n    y = self.basis\nexcept AttributeError:\n    y = self.basis = table(x)\nreturn y",
    "passed KeyError": "try:\n    return cache[n]\nexcept KeyError:\n    pass\ncache[n] = table(n)\nreturn cache[n]",
    "suppress": "with contextlib.suppress(KeyError):\n    return cache[n]\ncache[n] = table(n)\nreturn cache[n]",
    "list": "if not tables: tables.append(table(n))\nreturn tables[0]",
    "grown list": "while len(tables) <= n: tables.append(table(len(tables)))\nreturn tables[n]",
    "update": "if n not in cache: cache.update({n: table(n)})\nreturn cache[n]",
    "flag": "if not self.ready:\n    self.basis = table(x)\n    self.ready = True\nreturn self.basis",
    "last size": "if self.n != n:\n    self.basis = table(n)\n    self.n = n\nreturn self.basis",
    "lock": "with lock:\n    if self.basis is None:\n        self.basis = table(x)\nreturn self.basis",
    "loop": "for each in n:\n    if each in cache: continue\n    cache[each] = table(each)\nreturn cache[0]",
    "None or another size": "if self.basis is None or self.basis.shape != x.shape:\n    self.basis = table(x)",
}


@pytest.mark.parametrize("name", CACHES)
def test_a_value_that_is_stored_where_there_is_none_fills_a_cache(name: str) -> None:
    assert filling(CACHES[name]) == [True]


@pytest.mark.parametrize("method", ["__missing__", "__getattr__"])
def test_python_calls_a_method_for_what_is_not_there(method: str) -> None:
    body = "self[n] = table(n)\nreturn self[n]"
    assert filling(body, f"def {method}(self, n):") == [True]
    assert filling(body, "def at(self, n):") == [False]


@pytest.mark.parametrize(
    "body",
    [
        "return globals().setdefault('kept', table(n))",
        "if 'kept' not in globals(): globals()['kept'] = table(n)",
    ],
)
def test_a_variable_of_the_module_by_name(body: str) -> None:
    assert filling(body) == [True]


#: Code that stores what each call computes.
STATES = {
    "counted": "self.count = self.count + table(x)",
    "added": "self.count += table(x)",
    "begun first": "if self.mean is None:\n    self.mean = x\nself.mean = 0.9 * self.mean + table(x)",
    "begun by name": "old = self.mean\nif old is None: old = x\nself.mean = old + table(x)",
    "otherwise": "if self.mean is None:\n    self.mean = x\nelse:\n    self.mean = self.mean + table(x)",
    "computed with": "y = x * self.scale\nself.scale = table(x)\nreturn y",
    "with a default": "m = state.get('m', 0)\nstate['m'] = m + table(x)",
    "always": "if self.basis is None: print('first')\nself.basis = table(x)",
    "if there is one": "if self.basis is not None: self.basis = table(x)",
    "if there is one, by key": "if n in cache: cache[n] = table(n)",
    "another key": "if n not in cache: cache[0] = table(n)",
    "another object": "if self.mean is None: other.mean = table(x)",
    "return without one": "if self.mean is None: return x\nself.mean = table(x)\nreturn x",
    "log": "if len(losses) < 10: losses.append(table(x))",
    "groups": "groups.setdefault(n, []).append(table(x))",
    "another error": "try:\n    g(x)\nexcept Exception:\n    self.failed = table(x)",
    "value": "if self.mean > 3: self.mean = table(x)",
    "equal": "if self.mode == n: self.mode = table(x)",
    "of the one before": "if n not in sums: sums[n] = sums[n - 1] + table(x)",
    "setdefault of itself": "state.setdefault('m', state['m'] + table(x))",
    "or of itself": "self.m = self.m or self.m + table(x)",
}


@pytest.mark.parametrize("name", STATES)
def test_what_each_call_computes_fills_no_cache(name: str) -> None:
    assert not any(filling(STATES[name]))
