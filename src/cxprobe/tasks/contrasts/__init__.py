"""Contrasts: sums of pairs in which preferences cancel, so that what is left is the meaning."""
