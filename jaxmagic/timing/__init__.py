"""Times a block of code."""
