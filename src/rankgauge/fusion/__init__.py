"""Several runs made one: their union topic by topic, normalized scores, and methods to combine them."""
