"""Everything that knows Spark: the engine, its session, and the views of `sql/` on it."""

from orchbench_analytics.engines.spark.engine import SparkEngine

__all__ = ["SparkEngine"]
