"""Code that all records share: facts, names, files. It does not use JAX."""
