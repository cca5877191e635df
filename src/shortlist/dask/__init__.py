"""The estimators on data that lives on many machines, over Dask: see :doc:`/dask`.

Needs the extra `dask`.
"""

from __future__ import annotations

from shortlist.dask.cluster import NoWorkerError
from shortlist.dask.estimators import MultilabelClassifier, TopKClassifier
from shortlist.dask.partitions import PartitionError

__all__ = ["MultilabelClassifier", "NoWorkerError", "PartitionError", "TopKClassifier"]
