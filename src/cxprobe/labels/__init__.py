"""Labels of mined sentences."""
