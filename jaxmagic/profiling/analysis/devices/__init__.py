"""Analyses of single devices: steps, kernels, communication, idle time, memory."""
