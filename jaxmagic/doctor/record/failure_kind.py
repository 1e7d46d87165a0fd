"""Declares the kinds of exceptions that are explained."""

from __future__ import annotations

from typing import Literal

#: The problems that are explained, by what could not be done.
Kind = Literal[
    "bool",  # a traced value was used as a condition
    "number",  # a traced value was converted to a Python number, or has to be a constant
    "index",  # a traced value was used as a Python integer: in range(), or as an index of a list
    "shape",  # a shape or the bounds of a slice depend on a traced value
    "numpy",  # a traced value was passed to NumPy
    "mask",  # an array was indexed with a traced mask
    "static",  # a static argument is not hashable
    "leak",  # a traced value is used after its function was traced
    "deleted",  # an array was donated or deleted
    "nan",  # NaN or infinity under jax_debug_nans or jax_debug_infs
    "carry",  # the carry of a loop changes its type or its structure
    "branches",  # branches return different types or structures
    "pytree",  # two pytrees differ
    "memory",  # out of memory
    "product",  # the axes that a matrix product sums over have different sizes
    "batch",  # the batch axes of matrix products do not broadcast
    "no axis",  # an operand of a matrix product has no axis
    "einsum",  # a label of einsum() stands for axes of different sizes
    "einsum labels",  # there is another number of subscripts than operands, or a label that no operand has
    "einsum axes",  # a subscript of einsum() has more or fewer labels than its operand has axes
    "square",  # a matrix has to be square
    "core sizes",  # axes that share a letter in the signature of a vectorized function have different sizes
    "ragged",  # lists of different lengths are to become an array
    "broadcast",  # shapes do not broadcast to each other
    "broadcast to",  # a shape does not broadcast to the one that is asked for
    "joined",  # shapes do not fit in concatenate()
    "stacked",  # shapes do not fit in stack()
    "reshaped",  # an array has another number of elements than the shape that it should get
    "size",  # a shape has a size that is a float
    "update",  # an element of a JAX array was assigned
    "format",  # a traced value was formatted
    "not array",  # an argument is no array, no number and no pytree of them
    "no dataclass",  # a class that is to become a pytree is no dataclass
    "result",  # a traced function returns something else than arrays
    "predicate",  # the condition of cond() is not a scalar
    "loop condition",  # the condition of while_loop() is not a scalar bool
    "branch index",  # the index of switch() is not an integer scalar
    "bounds",  # the bounds of fori_loop() have different types
    "scan sizes",  # what scan() iterates over has different sizes
    "scan length",  # there is nothing to iterate over, or no leading axis
    "scan pair",  # the body of scan() does not return a pair
    "grad output",  # the function to differentiate does not return a real scalar
    "grad input",  # a differentiated argument is no float
    "grad argument",  # no argument has the number in argnums
    "aux",  # a function with auxiliary output does not return a pair
    "vmap sizes",  # the axes that are mapped have different sizes
    "vmap rank",  # an argument lacks the axis that is mapped
    "vmap axes",  # in_axes or out_axes do not fit the arguments or the result
    "jit option",  # static_argnums or static_argnames name no argument
    "devices",  # a mesh has another size than there are devices
    "mesh axes",  # a mesh has another number of names than axes
    "truth",  # an array with several elements was used as a condition
    "scalar",  # an array with axes was converted to a Python number
    "hash",  # an array was hashed
    "listed",  # an argument is a list, or None
    "text",  # an operand is a string
    "iterated",  # a scalar was iterated over or unpacked
    "truncated",  # math.trunc() gets a traced value
    "repeated",  # a list is multiplied by an array of JAX
    "scalar index",  # Python needs one integer, and gets an array that is none
    "key",  # a function of jax.random gets something else than one key, or another function gets a key
    "index type",  # an index is a float
    "index list",  # an index is a list
    "joined numbers",  # what concatenate() joins has no axis
    "at element",  # x.at[i] was assigned
    "at use",  # x.at[i] is called or computed with, or has no index
    "tree arithmetic",  # dictionaries of arrays are computed with
    "no rule",  # a function with custom derivatives has none
    "loop gradient",  # reverse mode through a loop with an unknown number of steps
    "axis name",  # no function around a collective has bound its axis name
    "backend",  # there are no devices of a platform
    "spec rank",  # a partition spec has more entries than the array has axes
    "spec division",  # an axis of a mesh does not divide the axis that is split over it
    "spec axis",  # a partition spec names an axis that the mesh does not have
    "spec repeated",  # a partition spec names an axis of the mesh twice
    "explicit specs",  # an argument of shard_map() is sharded otherwise than in_specs says, along explicit axes
    "explicit constraint",  # a sharding is to change along explicit axes
    "sharding count",  # in_shardings has another number of shardings than there are arguments
    "sharded apart",  # operands are split along other explicit axes than one another
    "sharded sum",  # a product sums over axes that are split
    "sharded result",  # the sharding of a part or another shape is not given
    "sharded axis",  # an axis that has to be whole is split
    "devices apart",  # arrays on different devices meet
    "no mesh",  # there is no mesh
    "spec replication",  # shard_map() cannot tell that a result is the same on all devices
    "callback result",  # the function of a callback returns something else than was declared
    "callback vmap",  # vmap_method= does not say how a callback is mapped
    "callback ordered",  # an ordered callback is mapped
    "callback gradient",  # a callback is differentiated
    "callback",  # the function of a callback raised an exception
    "layer input",  # a layer of flax gets an array with another last axis than its parameters were made for
    "groups",  # the groups of a normalization do not divide the channels
    "image axes",  # a convolution of flax gets an array without an axis for channels
    "features",  # a convolution gets another number of channels than its kernel takes
    "nondiff",  # a traced value was passed to an argument in nondiff_argnums
    "cotangents",  # a backward rule returns another number or structure of cotangents
    "cotangent type",  # a backward rule returns a cotangent of another type than its argument
    "rule pair",  # a forward rule or a JVP rule does not return a pair
    "rule output",  # a rule returns something else than its function
    "tangent output",  # a JVP rule returns a tangent of another type than its output
    "tangent structure",  # a JVP rule returns a tangent of another structure than its output
    "forward mode",  # forward mode through a custom_vjp function
    "closure",  # a custom_vjp function uses a traced value from outside
    "dtypes",  # operands have different dtypes that JAX does not convert
    "refused dtype",  # an operation does not take a dtype
    "axis",  # an array does not have an axis
    "index count",  # there are more indices than axes
    "mask shape",  # a mask has another shape than the array
    "start count",  # there is another number of starts of a slice than axes
    "start dtype",  # starts of a slice are floats, or integers of several dtypes
    "slice size",  # a slice or an update is larger than its array
    "signature",  # JAX calls a function with other arguments than it takes
    "callable",  # there is a value in place of a function
    "tangents",  # a tangent or a cotangent does not fit the value that it belongs to
    "no tuple",  # the primals of jvp() are no tuple
    "donated twice",  # a call donates an array that it gets twice
    "attribute",  # JAX arrays lack an attribute that those of other libraries have
    "transfer",  # a transfer that transfer_guard() forbids
    "xla",  # an error inside XLA
    "missing name",  # a module of JAX lacks a name
    "missing module",  # JAX lacks a module
    "unbound",  # a module of flax.linen is called, or its parts are used, without parameters
    "submodule",  # a submodule of flax.linen is made where none may be made
    "name in use",  # a module of flax.linen has two parts with one name
    "frozen module",  # a method of a module of flax.linen sets an attribute
    "variables",  # a module of flax.linen does not get variables that it needs
    "nested variables",  # apply() gets variables with one level more or less than it takes
    "immutable",  # a module of flax.linen updates a collection that apply() keeps
    "module key",  # a module of flax.linen gets no key
    "example rank",  # a layer of Equinox gets an array with other axes than one example has
    "layer key",  # a layer of flax.nnx or Equinox is made without random numbers
    "apply order",  # apply() gets the input before the variables
    "module leaves",  # a function computes with each leaf of a module of Equinox, some of which are no arrays
    "trace level",  # a variable of flax.nnx is changed, or passed on, in a function that JAX traces
    "container",  # a module of flax.nnx holds a list of modules
    "frozen",  # a field of an immutable object of a library is assigned
    "dropout",  # a dropout gets no random numbers
    "optimizer",  # an optimizer of Optax gets no parameters or state
    "optimizer method",  # an optimizer of Optax has no such method
    "loss dtype",  # a loss of Optax gets numbers of another kind than it takes
    "nnx optimizer",  # an optimizer of flax.nnx does not get all that it needs
    "unset",  # a layer of flax.linen does not know whether it trains
    "arrays apart",  # arrays are passed one by one where one sequence is expected
    "number dtype",  # a number or an array is passed where a dtype is expected
    "sizes apart",  # sizes are passed one by one where one shape is expected
    "array axis",  # an array is passed for an axis
    "no shape",  # a shape is a float or an array
    "overflow",  # an integer does not fit into its dtype
    "float",  # an axis or a number of things is a float
    "float bound",  # a bound of a slice is a float
    "other arguments",  # a function of JAX, or a jitted one, gets too few or too many arguments
    "called apart",  # a transformation gets the arguments of its function
    "order",  # the functions that a loop calls stand in other places
    "device",  # there is a text or a number in place of a device
    "no key",  # a function of jax.random gets a seed, or nothing, in place of a key
    "other option",  # an option takes positions and gets a name, or the other way round
    "starts",  # the starts or sizes of a slice are a number in place of a tuple
    "uneven",  # an axis cannot be split into equal parts
    "named axes",  # transpose() of an array gets its axes by name
    "field",  # jax.debug.print() names a field, and gets its value by position
    "unpacked",  # a key is unpacked, or two keys into another number of names
    "array unpacked",  # an array is unpacked into another number of names than it has elements
    "squeeze",  # an axis of another size than 1 is to be removed
    "taken along",  # indices of take_along_axis() have another number of axes than the array
    "weights",  # there is another number of probabilities than choices
    "unsized",  # a scalar has no length
    "pmap rows",  # there are more rows than devices
    "view",  # view() gets sizes in place of a dtype
    "kept axis",  # whether the axis stays is passed by position, where JAX takes a dtype or an output
    "flattened",  # flatten() gets axes
    "tiled",  # repeat() gets a number of copies for each axis
    "select",  # lax.select() gets arrays of different shapes
    "in place",  # a function is to change an array
    "deleted item",  # an element of an array is to be deleted
    "renamed",  # a keyword has another name in JAX
    "called attribute",  # an attribute of an array is called
    "permutation",  # transpose() does not get each axis once
    "non-number",  # an array is to hold text, objects or dates
    "string index",  # an index is text
    "conv rank",  # input and kernel of a convolution have different numbers of axes
    "conv padding",  # the padding of a convolution has no pairs
]
