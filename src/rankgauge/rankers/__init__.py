"""Learning to rank: methods that learn from features with labels, by scikit-learn's conventions.

A method is a class with settings, `fit(features, validation)` and `predict(features)`. `save` writes
what was learned into a folder, and `load` reads it. `methods` lists all methods, `find_method` finds one
by name, and `register` makes a method of one's own known.
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
