"""What each device did: steps, kernels, communication, idle time, memory."""
