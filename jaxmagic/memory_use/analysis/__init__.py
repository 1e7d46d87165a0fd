"""Places allocations in time and memory, and finds what grows."""
