"""Side effects of the code: what its runs change, and whether it may therefore run again."""
