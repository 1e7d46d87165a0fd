"""What a mistake of usage prints: what is wrong, what was found, what to write, and none of our frames."""

from __future__ import annotations

import ast
import re
import traceback
from pathlib import Path
from typing import Any

import pytest
from IPython.core.error import UsageError

import jaxmagic


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%jaxtimeit -n0 f(x)", "-n: expected a positive integer, got 0"),
        ("%jaxprof --logdir", "--logdir: expected a folder. Write for example --logdir runs"),
        ("%jaxtimeit --save", "--save: expected a file. Write for example --save run.json"),
        (
            "%%jaxcompare --check\na: 1\nb: 1",
            "--check: expected allclose, equal, none, or a tolerance RTOL or RTOL,ATOL. Write",
        ),
        (
            "%%jaxcompare --check no\na: 1\nb: 1",
            "--check: expected allclose, equal, none, or a tolerance RTOL or RTOL,ATOL, got 'no'",
        ),
        (
            "%%jaxcompare --atol 1e-3\na: 1\nb: 1",
            "there is no option --atol. Write --check RTOL or --check RTOL,ATOL.",
        ),
        (
            "%%jaxcompare --sweep n=1:10\na: n\nb: n",
            "--sweep n=1:10: expected Python, got 1:10. Write --sweep 'n=range(1, 10)'",
        ),
        ("%jaxtime --nope f(x)", "there is no option --nope."),
        (
            "%jaxprof --label a f(x)",
            "--label: expected --logdir as well, got only --label a. Write for example --logdir runs.",
        ),
        (
            "%jaxprof --logdir runs --label .. f(x)",
            "--label: expected the name of a folder, got '..'. Write for example",
        ),
    ],
)
def test_a_wrong_option_takes_one_line(session: Any, cell: str, message: str) -> None:
    error = session.run(cell, fails=UsageError)
    assert type(error) is UsageError  # IPython shows no frames of it
    assert str(error).startswith(message)
    assert "\n" not in str(error)


def wrong(call: Any, kind: type[Exception]) -> str:
    """The message of a call that is refused; its traceback has this file's call, and ours at most in a wrapper."""
    with pytest.raises(kind) as caught:
        call()
    stack = traceback.extract_tb(caught.value.__traceback__)
    assert [each.name for each in stack if "jaxmagic/jaxmagic" in each.filename.replace("\\", "/")] in ([], ["shown"])
    assert stack[-1].name in ("<lambda>", "shown")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


def test_a_keyword_that_is_an_option_of_another_name_is_told() -> None:
    functions = {"a": lambda x: x, "b": lambda x: x + 1}
    message = wrong(lambda: jaxmagic.compare(functions, 1, budget=1), TypeError)
    assert message == (
        "a takes no keyword budget. Did you mean budget_s? Keywords that are not options are passed to the functions."
    )


def test_a_sweep_without_make_args_is_told() -> None:
    message = wrong(lambda: jaxmagic.sweep({"a": lambda x: x}, n=[10, 20]), TypeError)
    assert message.startswith("a takes no keyword n. make_args is missing")
    assert message.endswith("sweep(f, lambda n: (jnp.ones(n),), n=[64, 256])")


def test_an_error_inside_a_function_is_its_own() -> None:
    def inner(x: int) -> int:
        return x

    def outer(x: int, budget: int = 0) -> int:
        return inner(x, budget=budget)  # type: ignore[call-arg]

    with pytest.raises(TypeError, match=r"inner\(\) got an unexpected keyword argument 'budget'") as caught:
        jaxmagic.compare({"a": outer, "b": outer}, 1, budget=1)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "outer"


def test_a_keyword_that_a_function_takes_is_passed() -> None:
    def takes(x: int, budget: int) -> int:
        return x + budget

    found = jaxmagic.compare({"a": takes, "b": lambda x, **more: x + more["budget"]}, 1, budget=2, budget_s=0.02)
    assert found.values == {"a": 3, "b": 3}


def test_arguments_are_refused_with_what_to_write() -> None:
    functions = {"a": lambda x: x, "b": lambda x: x}
    message = wrong(lambda: jaxmagic.compare(functions, 1, rtol="1%"), ValueError)  # type: ignore[call-overload]
    assert message == "rtol: expected a fraction between 0 and 1, got '1%'; for example rtol=0.01"
    message = wrong(lambda: jaxmagic.explore(3), TypeError)
    assert message.startswith("explore(): expected a record, or nothing for the session's history, got int. Magics")


#: What a message of usage has: what was expected, or what to write.
_SAYS_WHAT_TO_DO = re.compile(
    r"expected .*, got|\b([Ww]rite|Put|Give|Use|Leave|Name|Return|Move|Rename|Measure|put it|a power is|See %)",
    re.S,
)

#: Messages around another one, which says what to do, or around what the system says of a path.
_AROUND = {"deliver.py", "sweep_option.py", "leading.py", "magic.py", "keyword_labels.py"}


def usage_errors() -> list[Any]:
    """The text of each UsageError in the package, without what is filled in."""
    found = []
    for path in sorted(Path(jaxmagic.__file__).parent.rglob("*.py")):
        if "doctor" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "UsageError":
                constants = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
                text = "".join(each for each in constants if isinstance(each, str))
                found.append(pytest.param(path.name, text, id=f"{path.stem}:{node.lineno}"))
    return found


@pytest.mark.parametrize(("file", "text"), usage_errors())
def test_a_mistake_of_usage_says_what_to_write_in_at_most_six_lines(file: str, text: str) -> None:
    assert "\n" not in text
    assert len(text) <= 6 * 80
    if not (file in _AROUND and len(text) < 50):
        assert _SAYS_WHAT_TO_DO.search(text), text
