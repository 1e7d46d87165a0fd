"""Words what to write instead of code on which JAX raised an exception."""
