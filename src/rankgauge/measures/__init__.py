"""The measures, one file a family, and the language they are written in.

A measure is imported when it is first asked for, here as in a text such as "nDCG@10". The stub beside
this file lists the families.
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
