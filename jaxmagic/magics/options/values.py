"""Parses the values of options: each function takes the text of one, and says what it expects instead."""

from __future__ import annotations

import argparse
import keyword
import re
import unicodedata

from ...runtime.given import bytes_in, percentage_in, share_in, time_ns_in

#: Names whose values IPython needs.
_OF_THE_SESSION = frozenset({"In", "Out", "get_ipython", "exit", "quit"})


def variable(text: str) -> str:
    """Parse an option that names a variable."""
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"expected a variable name, got {text!r}; for example -v t")
    if text.startswith("__") or text in _OF_THE_SESSION:
        raise argparse.ArgumentTypeError(
            f"expected a name of your own, got {text}, which belongs to Python or IPython; for example -v t"
        )
    return unicodedata.normalize("NFKC", text)  # as Python does with every name


def duration_ns(text: str) -> int:
    """Parse an option that is a duration, a number with its unit; return nanoseconds.

    >>> duration_ns("50ms"), duration_ns("1.5 s")
    (50000000, 1500000000)
    """
    time_ns = time_ns_in(text)
    if time_ns == 0 or time_ns_in(text.strip().removeprefix("-")) != time_ns:
        raise argparse.ArgumentTypeError(f"expected a time above 0, got {text!r}; for example 50ms")
    if time_ns is None:
        raise argparse.ArgumentTypeError(
            f"expected a time with a unit (ns, us, ms, s, min), got {text!r}; for example 50ms"
        )
    return time_ns


def file(text: str) -> str:
    """Parse an option that names a file."""
    if not text.strip():
        raise argparse.ArgumentTypeError(f"expected a file name, got {text!r}; for example =heap.pb.gz")
    return text


def positive_int(text: str) -> int:
    """Parse an option that is a count."""
    if not re.fullmatch(r"\d+", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a positive integer, got {text!r}; for example 3")
    return int(text)


def digits(text: str) -> int:
    """Parse an option that is a number of significant digits, as the setting ``JaxMagics.digits`` takes it."""
    if not re.fullmatch(r"[1-9]", text):
        raise argparse.ArgumentTypeError(f"expected an integer from 1 to 9, got {text!r}; for example 3")
    return int(text)


#: What a function can be called as.
MODES = ("forward", "grad", "value_and_grad")


def modes(text: str) -> tuple[str, ...]:
    """Parse an option that lists the modes in which a function is called.

    >>> modes("forward,grad")
    ('forward', 'grad')
    """
    return tuple(each.strip() for each in text.split(","))


def work(text: str) -> tuple[str, str]:
    """Parse an option for the work per call; return its kind, and the code that computes the amount.

    >>> work("items=n * n"), work("flops")
    (('items', 'n * n'), ('flops', ''))
    """
    kind, _, amount = (each.strip() for each in text.partition("="))
    if (kind in ("items", "bytes") and amount) or text.strip() == "flops":
        return kind, amount
    raise argparse.ArgumentTypeError(f"expected items=N, bytes=N or flops, got {text!r}; for example items=len(x)")


#: The ways of comparing outputs that have a name.
CHECKS = ("allclose", "equal", "none")


def check(text: str) -> str | float | tuple[float, float]:
    """Parse an option that says how to compare outputs: a name, a share, or ``rtol`` and ``atol``.

    >>> check("equal"), check("1%"), check("1e-3"), check("1e-3, 1e-6")
    ('equal', 0.01, (0.001, 0.0), (0.001, 1e-06))
    """
    if text in CHECKS:
        return text
    if (of_largest := percentage_in(text)) is not None:
        return of_largest
    rtol, _, atol = text.partition(",")
    try:
        tolerance = float(rtol), float(atol or 0)
    except ValueError:
        tolerance = -1.0, -1.0
    if not all(0 <= each < float("inf") for each in tolerance) or text.rstrip().endswith(","):
        raise argparse.ArgumentTypeError(
            f"expected {', '.join(CHECKS)}, or a tolerance SHARE%, RTOL or RTOL,ATOL, got {text!r}; for example 1%"
        )
    return tolerance


def share(text: str) -> float:
    """Parse an option that is a fraction, as a number or in per cent.

    >>> share("0.01"), share("1e-2"), share("5%")
    (0.01, 0.01, 0.05)
    """
    value = share_in(text)
    if value is None or not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a fraction between 0 and 1, got {text!r}; for example 1%")
    return value


def names(text: str) -> tuple[str, ...]:
    """Parse an option that lists names.

    >>> names("recompile, donation")
    ('recompile', 'donation')
    """
    return tuple(each.strip() for each in text.split(",") if each.strip())


def size_bytes(text: str) -> int:
    """Parse an option that is an amount of memory; return bytes.

    >>> size_bytes("16GiB"), size_bytes("80 GB")
    (17179869184, 80000000000)
    """
    size = bytes_in(text)
    if size is None:
        raise argparse.ArgumentTypeError(
            f"expected a size with a unit (KiB, MiB, GiB, GB), got {text!r}; for example 16GiB"
        )
    if size < 1:
        raise argparse.ArgumentTypeError(f"expected a size of at least a byte, got {text!r}; for example 16GiB")
    return size
