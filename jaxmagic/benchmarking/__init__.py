"""How long a call takes."""
