"""What worker processes have imported before they are forked."""

import sys

# pyarrow takes numpy along if it can, and then takes twice as long; what workers do needs none.
sys.modules["numpy"] = None  # type: ignore[assignment]
import pyarrow.parquet  # noqa: E402, F401

del sys.modules["numpy"]

import orchbench_analytics.ingest.part  # noqa: E402, F401
