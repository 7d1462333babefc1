"""Labels and ratings of people."""
