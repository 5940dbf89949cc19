"""Several runs made one: their union topic by topic, normalised scores, and methods to combine them."""
