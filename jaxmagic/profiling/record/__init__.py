"""Device time by line, operation, scope and device."""
