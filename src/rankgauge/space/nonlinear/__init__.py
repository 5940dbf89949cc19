"""Scorers that are not linear in their parameter: all flips in an interval, sampled or certified.

`roots` contains `curve`, for any scorer of one parameter. `scorers` defines the scorer interface.
`crossings` finds flips by sampling; `isolation` and `sturm` find them with certainty for sums of c
/ (p + q·t). `term_statistics` contains the inputs of BM25.
"""
