"""How far apart a measure can put two lists: the algorithms that measures answer with."""
