"""Places allocations in time and memory, and suspects what grows."""
