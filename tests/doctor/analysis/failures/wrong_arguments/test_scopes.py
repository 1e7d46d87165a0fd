"""Modules of flax.linen that are called, applied or written against its rules."""

from __future__ import annotations

import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures.recognize import recognize

linen = pytest.importorskip("flax.linen")

NET = """
nn = __import__("flax.linen").linen

class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        x = nn.Dense(3)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dropout(0.5, deterministic=not train)(x)

class Parts(nn.Module):
    def setup(self):
        self.dense = nn.Dense(3)

    def __call__(self, x):
        return self.dense(x)

    def encode(self, x):
        return self.dense(x)

model, parts, x, key = Net(), Parts(), jnp.ones((4, 2)), jax.random.key(0)
variables = model.init(key, x)
"""


def failing(code: str) -> Cell:
    return Cell(f"{NET}\n{code}  # here")


@pytest.mark.parametrize(
    ("code", "found", "written"),
    [
        (
            "model(x)",
            "model is called without parameters: a module of flax.linen does not hold its own.",
            "variables = model.init(key, x), then model.apply(variables, x).",
        ),
        ("nn.Dense(3)(x)", "nn.Dense(3) is called without", "nn.Dense(3).init(key, x)"),
        ("parts.dense", "Parts has no dense outside of init() and apply():", "model.apply(variables, x)"),
    ],
)
def test_a_module_that_is_called_without_parameters(code: str, found: str, written: str) -> None:
    cell = failing(code)
    assert cell.finding.line == cell.here
    assert cell.said.startswith(found)
    assert written in cell.said


def test_a_method_of_a_module_is_applied_by_name() -> None:
    cell = failing("parts.encode(x)")
    assert cell.said.startswith("Parts has no dense outside of init() and apply(): what setup() defines exists only")
    assert 'model.apply(variables, x, method="encode")' in cell.said


def test_a_module_in_another_one_is_made_there() -> None:
    cell = Cell(
        f"""{NET}
class Outer(nn.Module):
    @nn.compact
    def __call__(self, x):
        return model(x)  # here
Outer().init(key, x)
"""
    )
    assert cell.finding.line == cell.here
    assert "In a method of another module, make it there" in cell.said


@pytest.mark.parametrize("line", ["return nn.Dense(3)(x)", "self.dense = nn.Dense(3)"])
def test_a_submodule_outside_of_setup(line: str) -> None:
    cell = Cell(
        f"""{NET}
class Outer(nn.Module):
    def __call__(self, x):
        {line}  # here
Outer().init(key, x)
"""
    )
    assert cell.finding.line == cell.here
    assert cell.said.startswith("A submodule Dense is made in __call__, outside of setup() and of methods with")
    assert "Put @nn.compact above def __call__" in cell.said


@pytest.mark.parametrize(
    ("code", "found", "written"),
    [
        (
            "model.apply({}, x)",
            "Dense_0 needs kernel of the collection params, but the variables that the model gets have no such",
            "Pass all that init() returned: model.apply(variables, x).",
        ),
        ("model.apply(variables['params'], x)", "Dense_0 needs kernel of", 'model.apply({"params": params}, x)'),
        (
            "model.apply({'params': variables['params']}, x)",
            "BatchNorm_0 needs mean of the collection batch_stats, but the variables",
            '{"params": params, "batch_stats": batch_stats}',
        ),
        (
            "model.apply({'params': {'Other': {}}}, x)",
            "Dense_0 needs kernel of the collection params, which is not among the variables",
            "another definition of the model",
        ),
    ],
)
def test_variables_that_are_missing(code: str, found: str, written: str) -> None:
    cell = failing(code)
    assert cell.said.startswith(found)
    assert written in cell.said


def test_parameters_with_one_layer_too_many() -> None:
    cell = failing("model.apply({'params': variables}, x)")
    assert cell.finding.line == cell.here
    assert cell.said.startswith('apply() gets {"params": {"params": …}}')
    assert "Pass what init() returned as it is" in cell.said
    assert cell.finding.code == "model.apply(variables, x)"
    assert cell.rewritten("model.apply(variables, x)").error is None


def test_parameters_without_their_collection() -> None:
    cell = failing("model.apply(variables['params']['Dense_0'], x)")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("The first argument of apply() is no dict of collections")


def test_parameters_without_their_collection_are_named_as_the_code_names_them() -> None:
    setup = "net = nn.Dense(3); p = net.init(key, x)['params']"
    cell = failing(f"{setup}\nnet.apply(p, x)")
    assert 'If p holds the parameters, name their collection: net.apply({"params": p}, x).' in cell.said
    assert "variables[" not in cell.said
    assert cell.rewritten('net.apply({"params": p}, x)').error is None


def test_statistics_that_are_updated_without_mutable() -> None:
    cell = failing("model.apply(variables, x, True, rngs={'dropout': key})")
    assert cell.said.startswith("BatchNorm_0 updates mean of the collection batch_stats, which apply() keeps")
    assert 'y, updated = model.apply(variables, x, mutable=["batch_stats"])' in cell.said
    assert "use_running_average=True" in cell.said


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (
            "y = model.apply(variables, x, True)",
            "y, updated = model.apply(variables, x, True, mutable=['batch_stats'])",
        ),
        (
            "updated = y = model.apply(variables, x, True).sum()",
            "# The call:\nmodel.apply(variables, x, True, mutable=['batch_stats'])",
        ),
        (
            "y = model.apply({'params': params}, x)",
            "y = model.apply({'params': params, 'batch_stats': variables['batch_stats']}, x)",
        ),
        (
            "stats, batch_stats = 0, variables['batch_stats']; y = model.apply({'params': params}, x)",
            "y = model.apply({'params': params, 'batch_stats': batch_stats}, x)",
        ),
        ("copied = dict(variables); y = model.apply({'params': params}, x)", None),  # either may be meant
        ("y = model.apply({'params': params, **{}}, x)", None),
        ("y = model.apply(variables, x, True, mutable=['other'])", None),
    ],
)
def test_the_call_that_applies_the_model_is_named_and_written(line: str, code: str | None) -> None:
    cell = Cell(
        f"{NET.replace('nn.Dropout(0.5, deterministic=not train)(x)', 'x')}\nparams = variables['params']\n{line}"
    )
    last = len(cell.source.splitlines())
    assert f"The model gets its variables at {cell.file}:{last}: model.apply(" in cell.said
    assert cell.finding.code == code
    if code is not None:
        before = line.rpartition("; ")[0]
        again = Cell("\n".join([*cell.source.splitlines()[1:-1], before, code]))
        assert again.error is None, again.error


def test_another_collection_that_is_updated_has_no_word_on_statistics() -> None:
    cell = Cell(
        f"""{NET}
class Counter(nn.Module):
    @nn.compact
    def __call__(self, x):
        count = self.variable("cache", "count", lambda: 0)
        count.value += 1  # here
        return x
counter = Counter()
counter.apply(counter.init(key, x), x)
"""
    )
    assert cell.finding.line == cell.here
    assert cell.said.startswith("The module updates count of the collection cache, which apply() keeps")
    assert 'mutable=["cache"]' in cell.said
    assert "use_running_average" not in cell.said


def test_random_numbers_without_a_key() -> None:
    cell = failing("model.apply(variables, x, True, mutable=['batch_stats'])")
    assert cell.said.startswith("Dropout_0 needs a key of random numbers for dropout, but gets none.")
    assert 'model.apply(variables, x, rngs={"dropout": key})' in cell.said
    assert "deterministic=True" in cell.said


@pytest.mark.parametrize("code", ["model.init(x)", "model.init(x, key)", "model.init(0, x)"])
def test_init_without_a_key(code: str) -> None:
    cell = failing(code)
    assert cell.finding.line == cell.here
    assert cell.said.startswith("The first argument of init() has to be a key, or a dict of keys")
    assert "model.init(jax.random.key(0), x)" in cell.said


@pytest.mark.parametrize(
    "code",
    [
        'raise AttributeError(\'"Parts" object has no attribute "dense". If "dense" is defined in .setup()\')',
        "raise type('AssignSubModuleError', (Exception,), {})('Submodule Dense must be defined in `setup()`')",
        "raise ValueError('Parameter \"deterministic\" must be passed to the constructor or at call time.')",
        "x.dense",
        "nn.merge_param('width', None, None)",
    ],
)
def test_similar_errors_have_no_explanation(code: str) -> None:
    cell = failing(code)
    assert cell.error is None or recognize(cell.error) is None


@pytest.mark.parametrize(
    ("layer", "option"), [("Dropout(0.5)", "deterministic"), ("BatchNorm()", "use_running_average")]
)
def test_a_layer_that_does_not_know_whether_it_trains(layer: str, option: str) -> None:
    cell = failing(f"nn.Sequential([nn.{layer}]).init(key, x)")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"The layer does not know its {option}")
    assert f"Pass {option}=not train" in cell.said
