"""Rules about the kinds of work that devices do."""
