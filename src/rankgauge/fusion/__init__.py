"""Several runs made one: their union query by query, normalized scores, and methods to combine them."""
