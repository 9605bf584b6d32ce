"""What notebooks need beside a warehouse: pictures as HTML, sentences, and the sample sweep.

>>> from orchbench_analytics.notebook import excerpts, sentences
"""

from __future__ import annotations

from orchbench_analytics.demo import write_sweep
from orchbench_analytics.outputs import sentences
from orchbench_analytics.outputs.show import StepKey, step_keys
from orchbench_analytics.pages import excerpts

__all__ = ["StepKey", "excerpts", "sentences", "step_keys", "write_sweep"]
