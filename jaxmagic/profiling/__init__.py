"""Profiles: device time by source line, operation, scope and device."""
