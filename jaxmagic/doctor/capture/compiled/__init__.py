"""What the programs show that ran."""
