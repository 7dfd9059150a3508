"""Compiled loops. Import a file of this folder only where it is used: importing numba takes a while."""
