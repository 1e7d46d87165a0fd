"""Programs, live arrays, usage over time and heap profiles."""
