"""Access to JAX and the machine, independent of what is measured."""
