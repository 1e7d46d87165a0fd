"""Rules about compiling: again and again, long, and of unrolled loops."""
