"""Words of the rules on compilation: what is compiled again, and what takes long to compile."""
