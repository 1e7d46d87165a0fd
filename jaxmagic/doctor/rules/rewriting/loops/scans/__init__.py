"""What a loop of JAX is over, and what it carries from round to round, as the loop of Python has it."""
