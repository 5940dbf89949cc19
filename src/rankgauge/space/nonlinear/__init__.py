"""Scorers that are not linear in their parameter: all flips in an interval, sampled or certified.

`roots` has `curve`, for any scorer of one parameter. `scorers` says what a scorer gives. `crossings`
finds flips by sampling; `isolation` and `sturm` find them for certain for sums of c / (p + q·t).
`term_statistics` is what BM25 needs.
"""
