"""How long a block took."""
