"""Recognizes the messages of JAX's exceptions on arguments that do not fit, and reads the facts in them.

The wording is that of JAX 0.7.2 to 0.12. A message in other words is not recognized, and not explained.
"""

from __future__ import annotations

import re

from ....record.failure_kind import Kind

_SHAPE = r"\([\d, ]*\)"
_SPEC = r"P(?:artitionSpec)?\((?:[^()]|\([^()]*\))*\)"
_SHAPES = r"\([\d, ()]*\)"

#: The types of an exception, the kind of the problem, and how the message begins. Groups are facts.
# fmt: off
_PATTERNS: tuple[tuple[str, Kind, str], ...] = (
    ("TypeError", "product",
        rf"dot_general requires contracting dimensions to have the same shape, got (?P<left>{_SHAPE}) and "
        rf"(?P<right>{_SHAPE})"),
    ("TypeError", "batch",
        r"dot_general requires lhs batch dimensions and rhs batch dimensions to have the same shape, got "
        rf"(?P<first>{_SHAPE}) and (?P<other>{_SHAPE})"),
    ("ValueError", "batch",
        r"Incompatible (?:types|shapes) for matmul arguments: (?P<left>\S.*?) and (?P<right>\S.*)"),
    ("ValueError", "no axis",
        r"matmul input operand (?P<number>[01]) must have ndim at least 1, but it has ndim 0"),
    ("ValueError", "einsum",
        r"Size of label '(?P<label>.)' for operand (?P<number>\d+) \(\d+\) does not match"),
    ("ValueError", "einsum axes",
        r"Einstein sum subscript '(?P<subscript>[^']*)' does not contain the correct number of indices for "
        r"operand (?P<number>\d+)"),
    ("TypeError", "broadcast",
        rf"(?P<operation>[\w.-]+) got incompatible shapes for broadcasting: (?P<shapes>{_SHAPES})"),
    ("ValueError", "broadcast",
        rf"Incompatible shapes for broadcasting: shapes=\[(?P<shapes>{_SHAPES})\]"),
    ("ValueError", "broadcast to",
        rf"Incompatible shapes for broadcasting: (?P<shape>{_SHAPE}) and requested shape "
        rf"(?P<requested>{_SHAPE})"),
    ("ValueError", "broadcast to",
        r"Incompatible types for broadcasting: input type=(?P<shape>\w+\[[\d,]*\]) and requested "
        r"type=(?P<requested>\w+\[[\d,]*\])"),
    ("TypeError", "joined",
        r"Cannot concatenate arrays with shapes that differ in dimensions other than the one being "
        rf"concatenated: concatenating along dimension (?P<axis>\d+) for shapes (?P<shapes>{_SHAPES})"),
    ("TypeError", "joined",
        rf"Cannot concatenate arrays with different numbers of dimensions: got (?P<shapes>{_SHAPES})"),
    ("ValueError", "stacked",
        rf"Cannot stack arrays with different [\w ]+: got (?P<shapes>{_SHAPES})"),
    ("ValueError", "stacked",
        rf"All input arrays must have the same shape\.(?: Got (?P<shapes>{_SHAPES}))?"),
    ("TypeError", "reshaped",
        rf"cannot reshape array of shape (?P<shape>{_SHAPE}) \(size (?P<size>\d+)\) into shape "
        r"(?P<requested>\([-\d, ]*\)|\d+) (?:\(size|because)"),
    ("TypeError", "reshaped",
        r"reshape total size must be unchanged, got new_sizes (?P<requested>\([\d, ]*\)) \(of total size "
        rf"\d+\) for shape (?P<shape>{_SHAPE}) \(of total size (?P<size>\d+)\)"),
    ("TypeError", "size",
        r"Shapes must be 1D sequences of concrete values of integer type, got (?P<sizes>\([\d., "
        r"e+-]*\d\.\d*[\d., e+-]*\))\.\s*\Z"),
    ("TypeError", "update",
        r"(?:.*\n?)?.*JAX arrays are immutable and do not support in-place item assignment"),
    ("TypeError", "format",
        r"unsupported format string passed to (?P<tracer>\w+)\.__format__"),
    ("TypeError", "format",
        r"%\w format: .+ is required, not (?P<tracer>\w+)"),
    ("TypeError", "not array",
        r"Error interpreting argument to [\s\S]+? as an abstract array\. The problematic value is "
        r"of type <class '(?P<type>.+?)'> and was passed to the function at path (?P<path>.+)\.$"),
    ("TypeError", "not array",
        r"Argument '(?:[\s\S]*)' of type '?<class '(?P<type>.+?)'>'? is not a valid JAX type"),
    ("TypeError", "result",
        r"function (?P<function>.+) at (?P<location>.+:\d+) traced for (?P<transform>[\w /]+?) returned a "
        r"value of type <class '(?P<type>.+?)'>(?: at output component (?P<path>.*?))?, which is not a "
        r"valid JAX type"),
    ("TypeError", "result",
        r"Output from batched function [\s\S]* with type <class '(?P<type>.+?)'> is not a valid JAX"),
    ("TypeError", "predicate",
        rf"Pred must be a scalar, got [\s\S]* of shape (?P<shape>{_SHAPE})"),
    ("TypeError", "predicate",
        r"Pred must be a scalar, got [\s\S]* of type <class '(?P<type>.+?)'>"),
    ("TypeError", "loop condition",
        r"cond_fun must return a boolean scalar, but got output type\(s\) "
        r"\[(?:ShapedArray\()?(?P<type>\w+\[[\d,]*\])[^\]]*\]"),
    ("TypeError", "loop condition",
        r"cond_fun must return a boolean scalar, but got pytree (?P<tree>.*)\."),
    ("TypeError", "branch index",
        rf"Branch index must be scalar, got [\s\S]* of shape (?P<shape>{_SHAPE})"),
    ("TypeError", "branch index",
        r"Index type must be an integer, got [\s\S]* as (?P<type>\w+)"),
    ("TypeError", "bounds",
        r"lower and upper arguments to fori_loop must have equal types, got (?P<lower>\w+) and "
        r"(?P<upper>\w+)"),
    ("ValueError", "scan sizes",
        r"scan got values with different leading axis sizes: (?P<sizes>\d[\d, ]*)"),
    ("ValueError", "scan sizes",
        r"scan got `length` argument of (?P<length>\d+) which disagrees with leading axis sizes "
        r"\[(?P<sizes>[\d, ]+)\]"),
    ("ValueError", "scan length",
        r"scan got no values to scan over and `length` not provided"),
    ("ValueError", "scan length",
        r"scan got value with no leading axis to scan over: (?P<value>[\s\S]*)"),
    ("TypeError", "scan pair",
        r"scan body output must be a pair, got (?P<got>.+?)\.?$"),
    ("TypeError", "grad output",
        rf"Gradient only defined for scalar-output functions\. Output had shape: (?P<shape>{_SHAPE})"),
    ("TypeError", "grad output",
        r"Gradient only defined for scalar-output functions\. Output was (?P<value>\(|None|)"),
    ("TypeError", "grad output",
        r"(?P<transform>\w+) requires real-valued outputs \(.*?\), but got (?P<dtype>\w+)\."),
    ("TypeError", "grad input",
        r"(?P<transform>\w+) requires real-(?: or complex-)?valued inputs \(.*?\), but got (?P<dtype>\w+)\."),
    ("TypeError", "grad argument",
        r"differentiating with respect to argnums=(?P<argnums>.+?) requires at least (?P<needed>\d+) "
        r"positional arguments to be passed by the caller, but got only (?P<given>\d+)"),
    ("TypeError", "aux",
        r"expected function with aux output to return a two-element tuple, but got type"),
    ("ValueError", "vmap sizes",
        r"vmap got inconsistent sizes for array axes to be mapped:\n(?P<axes>(?:  \* .*\n?)+)"),
    ("ValueError", "vmap rank",
        r"vmap was requested to map its argument along axis (?P<axis>-?\d+), which implies that its rank "
        rf"should be at least (?P<rank>\d+), but is only \d+ \(its shape is (?P<shape>{_SHAPE})\)"),
    ("ValueError", "vmap axes",
        r"vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional "
        r"arguments passed to the function, but got len\(in_axes\)=(?P<entries>\d+), "
        r"len\(args\)=(?P<given>\d+)"),
    ("ValueError", "vmap axes",
        r"(?P<none>vmap must have at least one non-None value in in_axes)"),
    ("ValueError", "vmap axes",
        r"at vmap out_axes, got axis spec None but output was batched on axis (?P<batched>\d+)"),
    ("ValueError", "jit option",
        r"Jitted function has (?P<option>\w+_argnums)=(?P<numbers>\(.*?\)), but only accepts (?P<count>\d+) "
        r"positional"),
    ("ValueError", "jit option",
        r"Jitted function has invalid argnames \{(?P<names>.+)\} in (?P<option>\w+_argnames)"),
    ("ValueError", "devices",
        r"Number of devices (?P<given>\d+) must (?:be >=|equal) the product of mesh_shape "
        rf"(?P<shape>{_SHAPE})"),
    ("ValueError", "mesh axes",
        r"Mesh requires the ndim of its first argument .* but got devices\.ndim == (?P<axes>\d+) and "
        r"len\(axis_names\) == (?P<names>\d+)"),
    ("ValueError", "truth",
        r"The truth value of an array with more than one element is ambiguous"),
    ("TypeError", "scalar",
        r"Only scalar arrays can be converted to Python scalars; got arr\.ndim=(?P<axes>\d+)"),
    ("TypeError", "hash",
        r"unhashable type: '(?:[\w.]+\.)?(?P<type>\w*Tracer|ArrayImpl)'"),
    ("TypeError", "listed",
        r"(?P<function>\w+) requires ndarray or scalar arguments, got <class '(?P<type>.+?)'> at position "
        r"(?P<number>\d+)"),
    ("TypeError", "listed",
        r"unsupported operand type\(s\) for (?P<function>[^\s*]+): '(?:[\w.]*ArrayImpl|\w+Tracer)' and "
        r"'(?P<type>list|tuple|NoneType)'"),
    ("TypeError", "listed",
        r"unsupported operand type\(s\) for (?P<function>[^\s*]+): '(?P<type>list|tuple|NoneType)' and "
        r"'(?:[\w.]*ArrayImpl|\w+Tracer)'"),
    ("TypeError", "listed",
        r"unsupported operand type\(s\) for (?P<function>\*{1,2})(?: or pow\(\))?: "
        r"'(?:[\w.]*ArrayImpl|\w+Tracer)' and '(?P<type>NoneType)'"),
    ("ValueError", "key",
        rf"(?P<function>\w+) accepts a single key, but was given a key array of shape (?P<shape>{_SHAPE}) != \(\)"),
    ("TypeError", "key",
        r"(?P<operation>[\w-]+) does not accept dtypes .*key<\w+>"),
    ("TypeError", "key",
        r"unexpected PRNG key type <class '(?P<type>.+?)'>"),
    ("TypeError", "key",
        r"JAX encountered invalid PRNG key data: expected key_data to have ndim, shape, and dtype attributes\. "
        r"Got (?P<number>-?\d[\w.+-]*)$"),
    ("TypeError", "key",
        r"JAX encountered invalid PRNG key data: expected key_data\.dtype = uint32; got dtype=(?P<dtype>\w+)"),
    ("TypeError", "key",
        r"JAX array with PRNGKey dtype cannot be converted to a (?P<array>NumPy) array"),
    ("TypeError", "index type",
        r"Indexer must have integer or boolean type, got indexer with type (?P<dtype>\w+)"),
    ("TypeError", "index list",
        r"Using a non-tuple sequence for multidimensional indexing is not allowed"),
    ("ValueError", "joined numbers",
        r"Zero-dimensional arrays cannot be concatenated"),
    ("TypeError", "at element",
        r"'_IndexUpdateHelper' object does not support item assignment"),
    ("AttributeError", "no rule",
        r"No (?P<rule>VJP|JVP) defined for custom_\w+ function (?P<function>.+) using def"),
    ("ValueError", "loop gradient",
        r"Reverse-mode differentiation does not work for lax\.while_loop or lax\.fori_loop"),
    ("NameError", "axis name",
        r"(?:Found an )?unbound axis name: (?P<axis>.+?)(?:\. To fix this, please call (?P<function>\w+) under.*)?$"),
    ("RuntimeError", "backend",
        r"Unknown backend:? '?(?P<backend>\w+)'?(?: requested)?[\s\S]*?(?:Platforms present are: |Available "
        r"backends are \[)(?P<present>[\w', ]*)"),
    ("ValueError", "spec rank",
        r"shard_map applied to the function '[^']*' was given an (?P<specs>in_specs|out_specs) entry which is too "
        rf"long[\s\S]*?\n\n\w+_specs\S* is (?P<spec>{_SPEC}) which has length (?P<length>\d+), but [^\n]*?"
        r"(?:parameter '(?P<parameter>\w+)',)? has "
        r"shape (?P<type>\w+\[[\d,]*\]), which has rank (?P<rank>\d+)"),
    ("ValueError", "spec rank",
        rf"(?:.* )?Sharding NamedSharding\(.*?spec=(?P<spec>{_SPEC}).*\) is only valid for values of rank at least "
        r"(?P<length>\d+), but was applied to a value of rank (?P<rank>\d+)"),
    ("ValueError", "spec division",
        r"shard_map applied to the function '[^']*' was given argument arrays with axis sizes that are not evenly "
        r"divisible[\s\S]*?\n\n[^\n]+? of shape (?P<type>\w+\[[\d,]*\])[^\n]*?"
        r"(?:parameter '(?P<parameter>\w+)',)? corresponds to "
        rf"(?P<specs>in_specs)\S* of value (?P<spec>{_SPEC}), which maps array axis (?P<axis>\d+) \(of size "
        r"(?P<size>\d+)\) to mesh (?:axis|axes) (?P<mesh>.+?) \(of (?:total )?size (?P<parts>\d+)\)"),
    ("ValueError|IndivisibleError", "spec division",
        rf".*?NamedSharding\(.*?spec=(?P<spec>{_SPEC}).*?implies that (?:array axis|the global size of its "
        r"dimension) (?P<axis>\d+) (?:is partitioned|should be divisible by) (?P<parts>\d+)(?: times)?, but "
        rf"(?:the dimension size|it) is (?:equal to )?(?P<size>\d+) \(full shape: (?P<type>{_SHAPE})"),
    ("ValueError", "spec axis",
        r"shard_map (?P<specs>in_specs|out_specs) argument must refer to an axis marked as manual "
        r"\((?:frozenset\()?\{(?P<axes>[^}]*)\}\)?\), but:\s+\w+_specs\S* refers to '(?P<axis>[^']+)'"),
    ("ValueError", "spec axis",
        rf"Resource axis: (?P<axis>\S+) of (?P<spec>{_SPEC}) is not found in mesh: \((?P<axes>[^)]*)\)"),
    ("ValueError", "spec replication",
        r"shard_map applied to the function '[^']*' was given out_specs which require replication which can't be "
        rf"statically inferred[\s\S]*?\n\nout_specs\S* is (?P<spec>{_SPEC}) which implies that the corresponding "
        r"output value is replicated across mesh (?:axis|axes) (?P<mesh>.+?), but"),
    ("JaxRuntimeError|XlaRuntimeError", "callback result",
        r"[\s\S]*callback[\s\S]*Incorrect output (?P<aspect>shape|dtype) for return value #(?P<number>\d+): "
        r"Expected: (?P<declared>\([\d, ]*\)|\w+), Actual: (?P<returned>\([\d, ]*\)|\w+)"),
    ("JaxRuntimeError|XlaRuntimeError", "callback result",
        r"[\s\S]*Mismatched number of outputs from callback\. Expected: (?P<declared>\d+), Actual: "
        r"(?P<returned>\d+)"),
    ("ScopeParamShapeError", "layer input",
        r'For parameter "(?P<parameter>\w+)" in "/?(?P<layer>[^"]*)", the given initializer is expected to generate '
        rf"shape (?P<needed>{_SHAPE}), but the existing parameter it received has shape (?P<made>{_SHAPE})"),
    ("ValueError", "groups",
        r"Number of groups \((?P<groups>\d+)\) does not divide the number of channels \((?P<channels>\d+)\)"),
    ("ValueError", "image axes",
        r"operands could not be broadcast together with shapes \((?P<given>\d+),\) \((?P<kernel>\d+),\)"),
    ("ValueError", "features",
        r"conv_general_dilated lhs feature dimension size divided by feature_group_count must equal the rhs input "
        r"feature dimension size, but (?P<given>\d+) // (?P<groups>\d+) != (?P<takes>\d+)"),
    ("JaxRuntimeError|XlaRuntimeError", "callback",
        r"[^\n]*CpuCallback error[^\n]*: Traceback \(most recent call last\):\n(?:  [^\n]*\n)*"
        r"  File \"[^\"\n]*[\\/]jax[\\/]_src[\\/](?:callback|debugging)\.py\"[^\n]*\n(?P<calls>(?:  [^\n]*\n)+)"
        r"(?P<error>[A-Za-z_][\w.]*(?:: [^\n]*)?)"),
    ("RuntimeError", "backend",
        r"Backend '(?P<backend>\w+)' failed to initialize"),
    ("UnexpectedTracerError", "nondiff",
        r"Found a JAX Tracer object passed as an argument to a (?P<rule>custom_\w+) function in a position "
        r"indicated by nondiff_argnums"),
)
# fmt: on


def read(types: list[str], text: str) -> tuple[Kind, dict[str, str]] | None:
    """Return the kind of an exception and the facts in its message, by the names of its class and its bases.

    >>> read(["TypeError"], "add got incompatible shapes for broadcasting: (3,), (4,).")
    ('broadcast', {'operation': 'add', 'shapes': '(3,), (4,)'})
    """
    for name, kind, pattern in _PATTERNS:
        match = re.compile(pattern, re.M).match(text) if any(each in types for each in name.split("|")) else None
        if match is not None:
            return kind, {key: value for key, value in match.groupdict().items() if value is not None}
    return None
