"""Records of programs, live arrays, memory use over time and heap profiles."""
