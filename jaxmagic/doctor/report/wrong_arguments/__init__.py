"""Words the notes on arguments that JAX's functions do not take."""
