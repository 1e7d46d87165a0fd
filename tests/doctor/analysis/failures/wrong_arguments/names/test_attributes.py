"""Attributes that arrays of other libraries have: the line as JAX takes it, with the arguments that it has."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell

from jaxmagic.doctor.analysis.failures.wrong_arguments.names.methods import EXPRESSIONS, IN_PLACE, IN_WORDS
from jaxmagic.doctor.capture.failures.recognize import recognize

VALUES = "x, m, i = jnp.ones((2, 3)), jnp.ones((3, 3)), jnp.zeros((2, 1), int)\n"


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("x.numpy()", "np.asarray(x)"),
        ("x.numpy(force=True)", "np.asarray(x)"),
        ("x.to_numpy('f4')", "np.asarray(x, 'f4')"),
        ("x.to_numpy(copy=True)", None),
        ("x.dim(1)", None),
        ("x.sub(x, alpha=2)", None),
        ("x.to('cpu', non_blocking=True)", "jax.device_put(x, jax.devices('cpu')[0])"),
        ("x.to('cpu', dtype=jnp.int32)", None),
        ("x.amax(1, True)", "x.max(1, keepdims=True)"),
        ("x.logsumexp(dim=1, keepdim=True)", "jax.nn.logsumexp(x, axis=1, keepdims=True)"),
        ("x.flip(0, 1)", None),
        ("x.gather(dim=1, index=i)", "jnp.take_along_axis(x, i, 1)"),
        ("x.masked_fill(mask=x > 0, value=1)", "jnp.where(x > 0, 1, x)"),
        ("x.topk(1, dim=0)", None),
        ("jnp.exp(x).numpy().sum()", "np.asarray(jnp.exp(x)).sum()"),
        ("y = x.detach()", "y = jax.lax.stop_gradient(x)"),
        ("y = x.detach().cpu().numpy()", "y = np.asarray(x)"),
        ("y = x.cpu().numpy().tolist()", "y = np.asarray(x).tolist()"),
        ("y = x.detach().sum()", "y = jax.lax.stop_gradient(x).sum()"),
        ("y = x.contiguous().reshape(-1)", "y = x.reshape(-1)"),
        ("n = x.numel() * 2", "n = x.size * 2"),
        ("y = x.contiguous().view(3, -1)", "y = x.reshape(3, -1)"),
        ("y = x.float().view(-1)", "y = x.astype(jnp.float32).reshape(-1)"),
        ("y = x.mm(x.t())", "y = jnp.matmul(x, x.T)"),
        ("y = x.float().relu().unsqueeze(0)", "y = jnp.expand_dims(jax.nn.relu(x.astype(jnp.float32)), 0)"),
        ("y = x.exp().sum(1, keepdim=True)", "y = jnp.exp(x).sum(1, keepdims=True)"),
        ("y = x.abs().mean(dim=1).tolist()", "y = jnp.abs(x).mean(axis=1).tolist()"),
        ("n = x.t().size(0)", "n = x.T.shape[0]"),
        ("n = x.t().dim()", "n = x.T.ndim"),
        ("y = x.float().foo()", None),
        ("y = x.float().split(1)", None),
        ("y = x.float().mm(x.foo())", None),
        ("y = x.float().add_(1)", None),
        ("y = dict(x=x.float()).get('x').numpy().itemset", None),
        ("x.dim()", "x.ndim"),
        ("x.len()", "len(x)"),
        ("x.t()", "x.T"),
        ("x.clamp(0, 1)", "jnp.clip(x, 0, 1)"),
        ("x.clamp(min=0)", "jnp.clip(x, min=0)"),
        ("x.masked_fill(x > 0, 1)", "jnp.where(x > 0, 1, x)"),
        ("x.unsqueeze(0)", "jnp.expand_dims(x, 0)"),
        ("x.unsqueeze(dim=0)", "jnp.expand_dims(x, axis=0)"),
        ("(x + 1).exp()", "jnp.exp(x + 1)"),
        ("(x + 1).float()", "(x + 1).astype(jnp.float32)"),
        ("(x + 1).permute(1, 0)", "(x + 1).transpose(1, 0)"),
        ("x.isnan().any()", "jnp.isnan(x).any()"),
        ("x.abs().sum()", "jnp.abs(x).sum()"),
        ("m.diag().sum()", "jnp.diag(m).sum()"),
        ("y = (m @ m).diag()", "y = jnp.diag(m @ m)"),
        ("x.pow(2).sum()", "jnp.power(x, 2).sum()"),
        ("x.mm(m)", "jnp.matmul(x, m)"),
        ("x.eq(m[0])", "jnp.equal(x, m[0])"),
        ("x.flip(0)", "jnp.flip(x, 0)"),
        ("m.inv()", "jnp.linalg.inv(m)"),
        ("x.norm()", "jnp.linalg.norm(x)"),
        ("x.log_softmax(-1)", "jax.nn.log_softmax(x, -1)"),
        ("x.softmax(dim=1)", "jax.nn.softmax(x, axis=1)"),
        ("x.add(1)", "jnp.add(x, 1)"),
        ("x.add(1, alpha=2)", None),
        ("y = x.unbind()", "y = jnp.unstack(x, axis=0)"),
        ("y = x.unbind(dim=1)", "y = jnp.unstack(x, axis=1)"),
        ("y = x.new_zeros((2, 2))", "y = jnp.zeros((2, 2), x.dtype)"),
        ("y = x.new_zeros(2, 2)", None),
        ("y = x.new_full(size=(2, 2), fill_value=1)", None),
        ("x.topk(2)", "jax.lax.top_k(x, 2)"),
        ("x.gather(1, i)", "jnp.take_along_axis(x, i, 1)"),
        ("x.index_select(1, i[:, 0])", "jnp.take(x, i[:, 0], 1)"),
        ("x[0].expand_as(m)", "jnp.broadcast_to(x[0], m.shape)"),
        ("x.type_as(i)", "x.astype(i.dtype)"),
        ("x.to('cpu')", "jax.device_put(x, jax.devices('cpu')[0])"),
        ("x.to(jnp.bfloat16)", "x.astype(jnp.bfloat16)"),
        ("jax.jit(lambda y: y.relu())(x)", "jax.jit(lambda y: jax.nn.relu(y))(x)"),
        ("x.add_(1)", "x = x + 1"),
        ("x.mul_(1 if x.ndim else 2)", "x = x * (1 if x.ndim else 2)"),
        ("x.zero_()", "x = jnp.zeros_like(x)"),
        ("x.fill(0)", "x = jnp.full_like(x, 0)"),
        ("x.insert(0, 1)", "x = jnp.insert(x, 0, 1, axis=0)"),
        ("x.itemset((0, 0), 2)", "x = x.at[0, 0].set(2)"),
    ],
)
def test_the_line_as_jax_takes_it(code: str, written: str | None) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    assert cell.finding.line == cell.here
    assert "is a JAX array, which has no " in cell.said
    assert cell.finding.code == written
    if written is not None:
        assert cell.rewritten(written).error is None


@pytest.mark.parametrize(
    ("array", "code", "written", "result"),
    [
        ("[1, 2]", "x.append(3)", "x = jnp.append(x, 3)", [1, 2, 3]),
        (
            "[[1, 2]]",
            "x.append([3, 4])",
            "x = jnp.concatenate([x, jnp.asarray([3, 4])[None]])",
            [[1, 2], [3, 4]],
        ),
        ("[[1, 2]]", "x.extend([[3, 4]])", "x = jnp.concatenate([x, jnp.asarray([[3, 4]])])", [[1, 2], [3, 4]]),
        ("[1, 2]", "x.itemset(0, 9)", "x = x.at[0].set(9)", [9, 2]),
        ("[1, 2]", "x.itemset(n, 9)", "x = x.at[n].set(9)", [1, 9]),
        (
            "[[1, 2], [3, 4]]",
            "x.itemset(2, 9)",
            "x = x.at[jnp.unravel_index(2, x.shape)].set(9)",
            [[1, 2], [9, 4]],
        ),
        ("[[1, 2], [3, 4]]", "x.itemset((0, n), 9)", "x = x.at[0, n].set(9)", [[1, 9], [3, 4]]),
        ("[1, 2]", "x.put([0], 9)", "x = jnp.put(x, jnp.asarray([0]), 9, inplace=False)", [9, 2]),
        ("[[1, 2], [3, 4]]", "x.fill_diagonal(9)", "x = jnp.fill_diagonal(x, 9, inplace=False)", [[9, 2], [3, 9]]),
        ("[3, 1, 2]", "x.partition(1)", "x = jnp.partition(x, 1)", [1, 2, 3]),
        ("[[2, 1]]", "x.partition(0, axis=0)", "x = jnp.partition(x, 0, axis=0)", [[2, 1]]),
    ],
)
def test_changed_arrays_are_what_the_method_would_have_made(
    array: str, code: str, written: str, result: list[object]
) -> None:
    cell = Cell(f"x, n = jnp.array({array}), 1\n{code}  # here")
    assert f"Write {written}." in cell.said
    assert cell.finding.code == written
    assert cell.rewritten(written).names["x"].tolist() == result


@pytest.mark.parametrize(
    ("variable", "code"), [("y = x + 1", "y = y + 1"), ("pass", None)], ids=["of the function", "of the module"]
)
def test_a_variable_of_the_module_is_not_replaced_in_a_function(variable: str, code: str | None) -> None:
    cell = Cell(f"y = x = jnp.ones(2)\ndef f():\n    {variable}\n    y.add_(1)  # here\n    return y\nf()")
    assert "Write y = y + 1." in cell.said
    assert cell.finding.code == code


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x.itemset(n, 9)", "Write x = x.at[index].set(value), with an index per axis."),
        ("y = x.median()", "Write jnp.median(x). It is the mean of two middle values, of which PyTorch takes the "),
        ("y = x.nanmedian(dim=1)", "Write jnp.nanmedian(x, axis=1). It is the mean of two middle values"),
        ("x.resize(4)", "Write x = jnp.resize(x, 4). It repeats the elements, where NumPy's method adds zeros."),
    ],
)
def test_methods_that_jax_computes_in_another_way_have_no_code(code: str, said: str) -> None:
    cell = Cell(f"{VALUES}n = 1\n{code}  # here")
    assert said in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize(
    ("code", "has_code"),
    [
        ("x.unsqueeze(0).repeat(3, 1)", False),  # PyTorch repeats the array, JAX each element
        ("x @ x.float().transpose(0, 1)", False),  # PyTorch swaps two axes
        ("x.float().std()", False),  # PyTorch divides by n - 1
        ("x.var(0).unsqueeze(0)", False),
        ("x.double().max(1).T", False),
        ("x.float().std(ddof=1)", True),
        ("x.float().max()", True),
        ("x.float().transpose(1, 0, 2)", True),
        ("x.numpy().std()", True),  # as NumPy's
        ("x.std() + x.float()", True),
        ("jnp.std(x.float())", True),
    ],
)
def test_a_chain_in_which_another_method_means_something_else_has_no_code(code: str, has_code: bool) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    assert cell.finding.remedy is not None
    assert (cell.finding.code is not None) == has_code


def test_arguments_that_are_moved_have_the_same_meaning() -> None:
    cell = Cell(f"{VALUES}y = x.at[0, 0].set(5.0).gather(1, i)  # here")
    assert cell.finding.code is not None
    y = cell.rewritten(cell.finding.code).names["y"]
    assert y.tolist() == [[5.0], [1.0]]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x.cuda()", "Write jax.device_put(x, jax.devices('gpu')[0])."),
        ("x.to(i)", "Write x.astype(dtype), or jax.device_put(x, device)."),
        ("x.split(1)", "with the number of parts in place of their size"),
        ("x.grad", "Write jax.grad(f)(params), where f(params) returns the loss."),
        ("loss = x.sum(); loss.backward()", "Write jax.grad(f)(params), where f(params) returns the loss."),
        ("x.copy().itemset((0, 0), 2)", "Write x.copy().at[0, 0].set(2)."),
        ("x[0].fill(1)", "Write jnp.full_like(x[0], 1)."),
        ("x.tofile('/dev/null')", "Write np.asarray(x).tofile."),
        ("x.reshpe(6)", "A name like it: x.reshape."),
        ("y = x.add_(1)", "Write x = x + 1."),
        ("x.norm(1, dim=(0, 1))", "Write jnp.linalg.norm(x, …). Translate the arguments yourself: 1, dim=(0, 1)."),
        ("x.clamp(*[0, 1])", "Write jnp.clip(x, …)."),
        ("x.mm(x.foo())", "Write jnp.matmul(x, …). Translate the arguments yourself: x.foo()."),
    ],
)
def test_other_meanings_are_in_words(code: str, said: str) -> None:
    cell = Cell(f"{VALUES}{code}  # here")
    assert said in cell.said
    if not code.startswith("x.cuda"):
        assert cell.finding.code is None


@pytest.mark.parametrize(
    ("arguments", "written", "order", "axis", "keepdims"),
    [
        ("", "jnp.linalg.norm(x)", 2, (0, 1), False),
        ("dim=1", "jnp.linalg.norm(x, axis=1)", 2, 1, False),
        ("p=1, dim=-1, keepdim=True", "jnp.linalg.norm(x, ord=1, axis=-1, keepdims=True)", 1, 1, True),
        ("3, 0", "jnp.linalg.norm(x, ord=3, axis=0)", 3, 0, False),
        ("1", "jnp.linalg.norm(x.ravel(), ord=1)", 1, (0, 1), False),
        ("dim=[0, 1]", "jnp.linalg.norm(x, axis=(0, 1))", 2, (0, 1), False),
        ("dim=1, dtype=jnp.float32", None, 2, 1, False),
        ("p=1, keepdim=True", None, 1, (0, 1), True),
        ("1, n", None, 1, 1, False),
    ],
)
def test_a_norm_keeps_its_axis_and_order(
    arguments: str, written: str | None, order: int, axis: int | tuple[int, ...], keepdims: bool
) -> None:
    cell = Cell(f"{VALUES}n = 1\ny = x.norm({arguments})  # here")
    assert cell.finding.code == (None if written is None else f"y = {written}")
    if written is not None:
        expected = (abs(np.asarray(cell.names["x"])) ** order).sum(axis=axis, keepdims=keepdims) ** (1 / order)
        np.testing.assert_allclose(cell.rewritten(f"y = {written}").names["y"], expected, rtol=1e-6)


@pytest.mark.parametrize("call", ["", "()", "(x, x)"])
def test_each_name_is_explained_however_it_is_called(call: str) -> None:
    for name in [*EXPRESSIONS, *IN_PLACE, *IN_WORDS]:
        cell = Cell(f"{VALUES}x.{name}{call}  # here")
        if isinstance(cell.error, AttributeError):  # not one that this JAX has
            assert f"x is a JAX array, which has no {name}." in cell.said
            assert "{" not in cell.said


@pytest.mark.parametrize(
    ("code", "said", "written"),
    [
        ("return x.cpu()", "jnp in place of NumPy", None),
        ("return x.detach().cpu().numpy()", "jnp in place of NumPy", None),
        ("return x.addressable_shards", "", None),
        ("return x.block_until_ready()", "Wait for its result where the function is called.", "return x"),
    ],
)
def test_traced_values(code: str, said: str, written: str | None) -> None:
    cell = Cell(f"@jax.jit\ndef f(x):\n    {code}  # here\nf(jnp.ones(3))")
    if cell.error is None:
        pytest.skip("this JAX lets traced values wait")
    assert said in cell.said
    if said:
        assert cell.finding.code == written
    if written is not None:
        assert cell.rewritten(written).error is None


def test_a_traced_value_is_on_no_device() -> None:
    cell = Cell("jax.jit(lambda x: x.device)(1.0)  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("x is traced, and a traced value has no device.")
    assert "outside of functions that JAX traces" in cell.said


@pytest.mark.parametrize(
    "code",
    ["x.foo", "[].numpy()", "type('ArrayImpl', (), {})().numpy", "type('MyTracer', (), {})().numpy", "x.eye(0)"],
)
def test_other_attributes_have_no_explanation(code: str) -> None:
    cell = Cell(f"x = jnp.ones(3)\n{code}")
    assert cell.error is not None
    assert recognize(cell.error) is None
