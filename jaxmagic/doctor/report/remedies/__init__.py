"""Words what to write instead of code that JAX cannot trace, that compiles each time, or that calls too often."""
