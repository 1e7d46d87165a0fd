"""What JAX compiled, and why."""
