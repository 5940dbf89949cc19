"""Learning to rank from features with labels, following scikit-learn's conventions.

A method is a class with settings, `fit(features, validation)` and `predict(features)`. `save`
writes a trained ranker to a folder, and `load` reads it. `methods` lists all methods,
`find_method` finds one by name, and `register` adds a method of your own.
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
