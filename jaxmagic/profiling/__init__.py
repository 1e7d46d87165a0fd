"""What the devices did."""
