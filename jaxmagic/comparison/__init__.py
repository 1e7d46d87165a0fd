"""Which candidate is faster, and how that grows."""
