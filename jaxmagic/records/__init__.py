"""What all records share: facts, names, files. Nothing here sees JAX."""
