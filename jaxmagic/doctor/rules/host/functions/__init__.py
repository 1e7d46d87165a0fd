"""How much of a run one function has, and how much of that jit spares."""
