"""An overview of a session."""
