"""The front door: options, cells and shells.

The law of this room: it alone sees IPython. A magic's method parses, calls and shows; what it calls would do the
same without a shell. Loading changes the shell in few places, and unloading changes exactly those back.
"""
