"""Words what to write instead of code on which JAX raised an exception, or that compiles each time."""
