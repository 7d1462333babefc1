"""Inference and reasoning, asked in words or by likelihood: Scivetti et al. (2025)."""
