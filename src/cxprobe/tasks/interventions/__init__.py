"""Interventions: does a model use what a probe reads? Arora et al. (2024)."""
