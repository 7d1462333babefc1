"""Minimal pairs, the project's own and others': Oba and Sugawara (2026)."""
