"""Inference and reasoning, by prompts or by likelihood: Scivetti et al. (2025)."""
