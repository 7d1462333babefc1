"""Masked scenarios, biases and calibration: Weissweiler et al. (2022), section 4."""
