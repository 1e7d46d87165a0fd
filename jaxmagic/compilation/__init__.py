"""Records which functions JAX compiled, and why."""
