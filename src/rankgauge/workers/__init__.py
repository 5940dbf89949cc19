"""Work on many items, here or elsewhere; results come in order, and an item may fail alone.

`outcomes` does the work: by threads, by processes of this machine, by a Dask cluster, or by any executor
of `concurrent.futures`. `share` is for what all tasks need, `prepare` for what each process must
do first.
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
