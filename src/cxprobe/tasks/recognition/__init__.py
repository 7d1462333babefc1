"""Probes of form on layer-wise vectors: Weissweiler et al. (2022), section 3."""
