"""What jit compiles as it is, what it would change or not take, and what it needs for modules of libraries."""
