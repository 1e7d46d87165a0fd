"""What follows from an exception, and from the evidence of several rules."""
