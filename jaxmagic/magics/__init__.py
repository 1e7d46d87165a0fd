"""The interface to IPython: options, cells and shells.

Only this package sees IPython. A magic's method parses, calls and shows; the functions that it calls would do the
same without a shell. Loading changes the shell in a few places, and unloading restores exactly those.
"""
