"""Shortens names of kernels to the function that people know."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Kernels that only run the function object in their template argument.
_WRAPPERS = frozenset(("kentry", "kernel", "kernel2", "device_kernel", "kernel_entry", "launch_kernel"))

#: Template arguments that are no names of kernels.
_NO_NAME = re.compile(r"[-\d].*|true|false|bool|char|short|int|long|unsigned.*|float|double|void|gfx\w*|sm_?\d+\w*")

#: Tensile names the GEMM kernels of AMD's libraries by all their settings; up to the macro tile they say enough.
_TENSILE = re.compile(r"Cijk_.*?_MT\d+x\d+x\d+")

_MANGLED = re.compile(r"_ZN?K?")

#: Deeper templates are not searched.
_DEEPEST = 4


def kernel_function(name: str) -> str:
    """Return the function of a kernel without namespaces, template arguments and parameters.

    >>> kernel_function("void ns::FillPhiloxRandomKernelLaunch<float, 4>(unsigned long, float*)")
    'FillPhiloxRandomKernelLaunch'
    >>> kernel_function("void ck_tile::kentry<ck_tile::gfx950_t, 2, ck_tile::FmhaFwdKernel<int>>(int)")
    'FmhaFwdKernel'
    >>> kernel_function("_ZN3xla3gpu9transposeEPfi"), kernel_function("loop_add_fusion_1.kd")
    ('transpose', 'loop_add_fusion_1')
    """
    function = _function(name.strip().removesuffix(".kd"), 0) or name
    tensile = _TENSILE.match(function)
    return tensile[0] if tensile else function


def _function(name: str, depth: int) -> str:
    if mangled := _MANGLED.match(name):
        return _demangled(name[mangled.end() :])
    path = _before_parameters(name.replace("(anonymous namespace)::", ""))
    last = _last_name(path)
    base, _, arguments = last.partition("<")
    if base.lower() in _WRAPPERS and arguments and depth < _DEEPEST:
        known = [each for each in _split(arguments.removesuffix(">"), ",") if not _NO_NAME.fullmatch(_plain(each))]
        inner = next((each for each in known if "kernel" in each.lower()), known[0] if known else "")
        return _function(inner.strip(), depth + 1) or base
    return base


def _demangled(rest: str) -> str:
    """Return the last name in ``3xla3gpu9transposeE…``, where the length of each name precedes it."""
    name = ""
    while match := re.match(r"\d{1,4}", rest):
        start, length = match.end(), int(match[0])
        if not length or start + length > len(rest):
            break
        name, rest = rest[start : start + length], rest[start + length :]
    return name


def _before_parameters(name: str) -> str:
    """Cut the parameter list off."""
    depth = 0
    for at, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth <= 0:
            return name[:at]
    return name


def _last_name(path: str) -> str:
    """Cut the return type and the namespaces off."""
    words = [each for each in _split(path, " ") if each.strip()]
    last = words[-1] if words else path
    return next(reversed([each for each in _split(last, ":") if each]), last)


def _plain(argument: str) -> str:
    """Return the name of a template argument without namespaces and template arguments of its own."""
    return argument.strip().partition("<")[0].rpartition("::")[2]


def _split(text: str, mark: str) -> Iterator[str]:
    """Split at a character, but not within template arguments."""
    depth = begin = 0
    for at, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if letter == mark and depth <= 0:
            yield text[begin:at]
            begin = at + 1
    yield text[begin:]
