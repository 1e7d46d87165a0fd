"""What the code waits for decides what runs next only if it takes part in a condition."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxmagic.doctor.rules.host.decisions import chosen_by_values, decides
from jaxmagic.records.call_stack import Frame

LOOP = """\
def train(params, batches):
    for i, (xb, yb) in enumerate(batches):
        params, loss = step(params, xb)
"""


def frame(path: Path, code: str, marked: str) -> Frame:
    """Return the line of some code that has this text in it."""
    path.write_text(code)
    (number,) = (number for number, line in enumerate(code.splitlines(), 1) if marked in line)
    return Frame(function="train", file=str(path), line=number)


def in_loop(path: Path, body: str) -> Frame:
    lines = [f"        {each}" for each in body.splitlines()]
    marked = next((each for each in lines if each.endswith("# here")), lines[0])
    return frame(path, LOOP + "\n".join(lines) + "\n", marked)


@pytest.mark.parametrize(
    ("body", "function"),
    [
        (
            'print(f"{i}: {losses[-1]:.3f} acc {accuracy(params, xb, yb):.3f}") if i % 512 == 0 else None',
            "__format__",
        ),
        ("if i % 10 == 0: print(float(loss))", "__float__"),
        ("if i % 10 == 0:\n    print(float(loss))  # here", "__float__"),
        ("if is_due(i): print(float(loss))", "__float__"),
        ('logger.info("%s", loss)', "__str__"),
        ("i % 10 == 0 and print(float(loss))", "__float__"),
        ("bar.set_postfix(loss=float(loss))", "__float__"),
        ("history.append(loss.item())", "item"),
        ("history.append(loss.item())  # here\nif len(history) > 100: break", "item"),
        ("done, value = i > 100, float(loss)  # here\nif done: break", "__float__"),
        ("flags.append(bool(ok))", "__bool__"),
        ("self.total += float(loss)", "__float__"),
        ("losses[i] = loss.item()  # here\nif i > 3: break", "item"),
        ("assert i < 100, float(loss)", "__float__"),
        ("x = float(loss)", "__float__"),
        ("if isinstance(loss, jax.Array):\n    loss = loss.item()  # here", "item"),
        ("best = loss.item()  # here\nif best is not None and hasattr(best, 'x'): save(best)", "item"),
        ("loss.block_until_ready()", "block_until_ready"),
    ],
)
def test_what_is_only_shown_or_kept_can_be_read_later(tmp_path: Path, body: str, function: str) -> None:
    assert not decides(in_loop(tmp_path / "train.py", body), function)


@pytest.mark.parametrize(
    ("body", "function"),
    [
        ('if float(loss) > 2: print("diverged")', "__float__"),
        ("if i % 10 == 0 and float(loss) < 1: break", "__float__"),
        ("if (\n    i > 3\n    and loss.item() < 1  # here\n):\n    break", "item"),
        ("assert float(loss) < 100", "__float__"),
        ("assert np.isfinite(loss)", "__array__"),
        ("best = min(best, loss)", "__bool__"),
        ("print(i) if float(loss) > 1 else None", "__float__"),
        ("float(loss) > 1 and print(i)", "__float__"),
        ("while error(params) > 1e-3:\n    params = step(params)", "__bool__"),
        ("value = float(loss)  # here\nif value < 1: break", "__float__"),
        ("value = float(loss)  # here\ngap = abs(value - last)\nif gap < 1e-3: break", "__float__"),
        ("history.append(float(loss))  # here\nif history[-1] < 1: break", "__float__"),
        ("self.best = float(loss)  # here\nif self.best < 1: break", "__float__"),
        ("total += float(loss)  # here\nif total > 9: break", "__float__"),
        ("if (value := float(loss)) < 1: break", "__float__"),
        ("kept = [each for each in losses if float(each) < 1]", "__float__"),
        ("match int(kind):\n    case 1: break", "__int__"),
    ],
)
def test_what_a_condition_needs_cannot(tmp_path: Path, body: str, function: str) -> None:
    assert decides(in_loop(tmp_path / "train.py", body), function)


def test_a_while_loop_that_tests_what_it_reads(tmp_path: Path) -> None:
    code = (
        "def solve(x):\n    error = 1.0\n    while error > 1e-3:\n        x, e = step(x)\n        error = float(e)\n"
    )
    assert decides(frame(tmp_path / "solve.py", code, "float(e)"), "__float__")


@pytest.mark.parametrize(
    ("before", "body", "chosen"),
    [
        ("", "best = max(vals, key=vals.get)\nt[i] = step(t[best])  # here\nvals[i] = float(t[i])", "max(vals"),
        ("t = {}", "best = max(vals)\nt[i] = step(t[best])  # here\nvals[i] = float(t[i])", "t[best]"),
        ("t = [x]", "x = step(t[int(x.argmax())])  # here", "t[int("),
        ("t = [x]", "k = x.argmax().item()\nrow = t[k] + 1\nx = step(row)  # here", "t[k]"),
        ("t = x", "x = step(t[int(x.argmax())])  # here", ""),
        ("t = [x]", "x = step(t[i])  # here", ""),
        ("t = [x]", "x = step(x)  # here\nk = int(x)\nprint(t[k])", ""),
        ("", "x = step(float(x))  # here", ""),
        ("t = {}", "x = step(x)  # here\nt[i] = max(y, key=len)", ""),
    ],
)
def test_python_chooses_what_a_function_gets_by_what_it_reads(
    tmp_path: Path, before: str, body: str, chosen: str
) -> None:
    lines = [
        "def train(x, vals):",
        f"    {before}",
        "    for i in range(9):",
        *(f"        {e}" for e in body.split("\n")),
    ]
    found = chosen_by_values(frame(tmp_path / "train.py", "\n".join(lines), "# here"), "step")
    assert found.startswith(chosen)
    assert bool(found) is bool(chosen)
