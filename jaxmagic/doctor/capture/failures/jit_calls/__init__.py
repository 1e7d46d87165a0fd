"""The call of a jitted function that failed: its arguments, the call without jit, and the mended function."""
