"""Advise which function, or which part of a loop, to jit."""
