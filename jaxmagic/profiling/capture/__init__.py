"""Runs code under the JAX profiler, and reads its traces."""
