"""Loading changes the shell in a few places, and unloading restores exactly those."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.error import UsageError

from jaxmagic.records import cell_names as sources
from jaxmagic.session.verbs import cells


def state(shell: Any) -> dict[str, Any]:
    return {
        "cleanup": list(shell.input_transformers_cleanup),
        "post": list(shell.input_transformers_post),
        "ast": list(shell.ast_transformers),
        "line": dict(shell.magics_manager.magics["line"]),
        "cell": dict(shell.magics_manager.magics["cell"]),
        "registry": dict(shell.magics_manager.registry),
        "configurables": list(shell.configurables),
        "display hook": vars(shell.displayhook).get("compute_format_data"),
        "namings": list(sources._namings),
        "callbacks": {name: list(found) for name, found in shell.events.callbacks.items()},
        "namespace": {name for name in shell.user_ns if not name.startswith("_")},
    }


def test_unloading_restores_what_loading_changed(bare: Any) -> None:
    bare.run("%load_ext jaxmagic")  # IPython loads its own magics when they are first used
    bare.run("%unload_ext jaxmagic")
    before = state(bare.shell)
    assert "jaxtime" not in {*before["line"], *before["cell"]}
    bare.run("%load_ext jaxmagic")
    assert state(bare.shell) != before
    bare.run("%jaxtime -q 1 + 1")
    bare.run("%unload_ext jaxmagic")
    assert state(bare.shell) == before


def test_a_magic_that_was_there_before_is_back(bare: Any) -> None:
    bare.shell.register_magic_function(lambda line: "theirs", "line", "jaxtime")
    bare.run("%load_ext jaxmagic")
    assert bare.run("%jaxtime -q 3") == 3
    bare.run("%unload_ext jaxmagic")
    assert bare.run("%jaxtime 3") == "theirs"


def test_loading_twice_measures_once(bare: Any) -> None:
    from jaxmagic import load_ipython_extension

    load_ipython_extension(bare.shell)
    load_ipython_extension(bare.shell)
    bare.run("%jaxtime 1 + 1")
    assert len(bare.published) == 1


def test_reloading_works(bare: Any) -> None:
    bare.run("%load_ext jaxmagic")
    bare.run("%reload_ext jaxmagic")
    assert bare.run("%jaxtime -q 3") == 3


def test_a_setting_that_was_refused_does_not_keep_the_extension_from_loading(
    bare: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    bare.run("%load_ext jaxmagic")
    bare.run("%config JaxMagics.digits = 99\n%config JaxMagics.form = 'line'")
    bare.run("%reload_ext jaxmagic")
    assert (
        "JaxMagics.digits = 3: digits: expected an integer from 1 to 9, got 99. Write for example "
        in capsys.readouterr().out
    )
    assert bare.shell.magics_manager.registry["JaxMagics"].style.form == "line"
    assert sum(type(each).__name__ == "JaxMagics" for each in bare.shell.configurables) == 1
    bare.run("%config JaxMagics.digits = 4")
    assert bare.shell.magics_manager.registry["JaxMagics"].style.digits == 4


def test_unloading_what_is_not_loaded_is_no_error(bare: Any) -> None:
    from jaxmagic import unload_ipython_extension

    unload_ipython_extension(bare.shell)


def test_a_function_with_the_magic_survives_unloading(session: Any) -> None:
    session.run("def g():\n    v = %jaxtime -q f(x)\n    return v.shape")
    session.run("%unload_ext jaxmagic")
    assert session.run("g()") == (8, 8)


def test_a_cell_without_the_magic_is_not_touched(session: Any) -> None:
    lines = ["a = '%jaxtime f('\n", "b = 1\n"]
    for transform in (*session.shell.input_transformers_cleanup, *session.shell.input_transformers_post):
        lines = transform(lines)
    assert lines == ["a = '%jaxtime f('\n", "b = 1\n"]
    assert session.run("'%jaxtime 1'") == "%jaxtime 1"


def test_what_arrays_take_is_noted_behind_each_cell(session: Any) -> None:
    session.run("big = jnp.ones((256, 1024))")
    session.run("del big")
    held, freed = cells()[-2:]
    count = session.shell.execution_count
    assert (held.cell, freed.cell) == (count - 2, count - 1)
    assert held.array_bytes - freed.array_bytes == 2**20
    session.shell.run_cell("1 + 1", store_history=False)
    assert cells()[-1] == freed


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("%config JaxMagic.form = 'line'", "Did you mean %config JaxMagics.form?"),
        ("x = 1\n%config JAXMagic.digits = 3", "Did you mean %config JaxMagics.digits?"),
        ("%config Other.form = 'line'", ""),
        ("%config IPCompleter.use_jedi = False", ""),
    ],
)
def test_a_setting_of_a_class_that_does_not_exist_is_explained(
    session: Any, capsys: pytest.CaptureFixture[str], cell: str, told: str
) -> None:
    session.shell.run_cell(cell)
    out = capsys.readouterr().out
    assert out.strip().endswith(told) if told else out == ""


@pytest.mark.parametrize(
    ("cell", "magic"),
    [
        ("%%jaxcompare -qr 3\nlocal = abs\none: local(1)\ntwo: 1", "%%jaxcompare"),
        ("%%jaxcompare -qr 3 --sweep n=1,2\nlocal = abs\none: local(n)", "%%jaxcompare"),
        ("%%jaxtimeit -qr 3 local = abs\nlocal(1)", "%%jaxtimeit"),
        ("%jaxtimeit -qr 3 local = abs(1)", "%jaxtimeit"),
    ],
)
def test_a_name_that_was_local_to_a_magic_is_explained(
    session: Any, capsys: pytest.CaptureFixture[str], cell: str, magic: str
) -> None:
    session.run(cell)
    capsys.readouterr()
    session.run("local(2)", fails=NameError)
    told = f"local was assigned in {magic}, whose names are local. Assign it in a cell of its own.\n"
    assert capsys.readouterr().out.endswith(told)
    session.run("another", fails=NameError)
    assert "local" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cell", "hint"),
    [
        ("%jaxtme f(x)", "Did you mean %jaxtime? %jaxmagic lists all magics.\n"),
        ("%%jax_time\nf(x)", "Did you mean %%jaxtime? %jaxmagic lists all magics.\n"),
        ("%jaxmen x", "Did you mean %jaxmem? %jaxmagic lists all magics.\n"),
        ("%jaxfoo", "%jaxmagic lists the magics of jaxmagic.\n"),
        ("%jaxmagics", "Did you mean %jaxmagic?\n"),
        ("%tiem x", ""),
    ],
)
def test_a_mistyped_magic_is_guessed(session: Any, capsys: pytest.CaptureFixture[str], cell: str, hint: str) -> None:
    session.run(cell, fails=UsageError)
    assert capsys.readouterr().out == hint


@pytest.mark.parametrize(
    ("cell", "hint"),
    [
        (
            "with jaxmagic.stopwatch as t:\n    pass",
            "jaxmagic.stopwatch: expected a call, got the function. Write with jaxmagic.stopwatch() as t:\n",
        ),
        (
            "with open('/dev/null'), jm.stopwatch as t:\n    pass",
            "jm.stopwatch: expected a call, got the function. Write with jm.stopwatch() as t:\n",
        ),
        (
            "def f():\n    with (\n        watch as t\n    ):\n        pass\nf()",
            "watch: expected a call, got the function. Write with watch() as t:\n",
        ),
        (
            "with jaxmagic.testing.assert_no_compile:\n    pass",
            "jaxmagic.testing.assert_no_compile: expected a call, got the function. Write with "
            "jaxmagic.testing.assert_no_compile():\n",
        ),
        ("with nothing.stopwatch as t:\n    pass", ""),
        ("with print as t:\n    watch", ""),
        ("with (lambda: jaxmagic.stopwatch) as t:\n    pass", ""),
        ("with jaxmagic.benchmark as t:\n    pass", ""),
    ],
)
def test_a_block_of_a_function_that_was_not_called_says_what_to_write(
    session: Any, capsys: pytest.CaptureFixture[str], cell: str, hint: str
) -> None:
    session.run("import jaxmagic, jaxmagic.testing\njm = jaxmagic\nwatch = jaxmagic.stopwatch")
    session.run("class Other:\n    stopwatch = staticmethod(print)\nnothing = Other()")
    session.run(cell, fails=TypeError)
    assert capsys.readouterr().out == hint


def test_without_the_extension_nothing_is_noted_and_what_fails_is_not_heard_of(
    session: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise RuntimeError("a driver that hangs")

    noted = cells()
    with monkeypatch.context() as patch:
        patch.setattr("jaxmagic.memory_use.capture.usage_readings.started_devices", fail)
        session.run("x + 1;")
    assert capsys.readouterr() == ("", "")
    session.run("%unload_ext jaxmagic")
    session.run("x + 1;")
    assert cells() == noted


def test_peaks_are_a_setting_too(bare: Any) -> None:
    from jaxmagic.runtime.given_peaks import given_peaks

    bare.run("%load_ext jaxmagic")
    bare.run("%config JaxMagics.peak_flops = 989e12\n%config JaxMagics.peak_bytes = 3.35e12")
    assert given_peaks() == (989e12, 3.35e12)
    bare.run("%config JaxMagics.peak_flops = 0\n%config JaxMagics.peak_bytes = 0")
    assert given_peaks() == (None, None)


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "-1", "True", "1e300", "10**400"])
def test_a_peak_that_no_device_has_is_refused(bare: Any, value: str, caplog: pytest.LogCaptureFixture) -> None:
    from jaxmagic.runtime.given_peaks import given_peaks

    bare.run("%load_ext jaxmagic")
    for name in ("peak_flops", "peak_bytes"):
        bare.run(f"%config JaxMagics.{name} = {value}")
        assert f"{name}: expected a rate per second from 1 to 1e24, or 0 for the default, got" in caplog.text
        assert given_peaks() == (None, None)


@pytest.mark.parametrize(
    "cell",
    [
        "%jaxtime -q x = 1 + 1",
        "%%jaxtime -q\nx = 1 + 1",
        "%jaxtimeit -q -r 1 -n 1 x = 2",
        "%%jaxmem -q\nx = 1 + 1",
        "%%jaxcompare -q -r 2\na: 1\nb: 2",
    ],
)
def test_a_lazy_magic_loads_the_extension_by_itself(bare: Any, monkeypatch: pytest.MonkeyPatch, cell: str) -> None:
    """As in ``c.MagicsManager.lazy_magics``: the cell that loads it was compiled before, and calls the magic."""
    names = ("jaxtime", "jaxtimeit", "jaxcompare", "jaxmem", "jaxprof")
    monkeypatch.setattr(bare.shell.magics_manager, "lazy_magics", dict.fromkeys(names, "jaxmagic"))
    assert "jaxmagic" not in bare.shell.extension_manager.loaded
    bare.run(cell)
    assert "jaxmagic" in bare.shell.extension_manager.loaded
    assert bare.run("%jaxtime -q y = 3\ny") == 3
