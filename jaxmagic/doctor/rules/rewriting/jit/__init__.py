"""Facts about jit: which functions it compiles as they are, what it would change, and how libraries call it."""
