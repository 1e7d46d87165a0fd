"""What to jit where operations run outside of jit."""
