"""Find the cause of each compilation, and what would avoid it."""
