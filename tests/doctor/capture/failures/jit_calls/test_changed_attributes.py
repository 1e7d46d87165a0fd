"""Tests for the attributes that a jitted function changes."""

import pytest
from failing_cells import Cell


def changed(body: str) -> tuple[str, ...]:
    cell = Cell(f"""
        def free(other, c): c.free = 1
        class Base:
            def inherited(self): self.of_base = 1
        class C(Base):
            def __init__(self): self.a, self.b, self.items, self.model = 1, {{}}, [], self.set
            def set(self, x): self.a = x
            def again(self): self.again()
            @jax.jit
            def f(self, x):
                {body}
        c = C()
        c.f(1.0)
    """)
    assert cell.failure.call is not None
    return cell.failure.call.changed


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.a = x", ("self.a",)),
        ("self.a += x", ("self.a",)),
        ("self.a: int = x", ("self.a",)),
        ("(self.a, [*self.b, y]) = x", ("self.a", "self.b")),
        ("for self.a in x: pass", ("self.a",)),
        ("del self.a", ("self.a",)),
        ("self.b['w'] = x", ("self.b",)),
        ("self.b['w'].c = x", ("self.b",)),
        ("setattr(self, 'a', x)", ("self.a",)),
        ("object.__setattr__(self, 'a', x)", ("self.a",)),
        ("self.items.append(x)", ("self.items",)),
        ("self.set(x)", ("self.a",)),
        ("self.inherited()", ("self.of_base",)),
        ("free(x, self)", ("self.free",)),
        ("me = self; me.a = x", ("self.a",)),
        ("self.again()", ()),
        ("setattr(self, x, 1)", ()),
        ("self.model.update(x)", ()),  # a method of any object
        ("x.a = self.a", ("x.a",)),  # another argument
        ("y.a = self.a", ()),
        ("return self.a", ()),
    ],
)
def test_what_changes_an_attribute(body: str, expected: tuple[str, ...]) -> None:
    assert changed(body) == expected
