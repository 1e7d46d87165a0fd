"""JAX and the machine, whatever is measured."""
