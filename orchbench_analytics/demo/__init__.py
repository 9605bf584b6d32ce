"""A sample sweep: invented agents, scenarios and models in the benchmark's own tree.

What it talks about is data, in English and Korean side by side:

- `agents/*.yaml`: an agent each, with its tools and the values its texts draw on;
- `scenarios.yaml`: who is asked for what, in which order;
- `phrases.yaml`: the words between the requests;
- `models.yaml`: how each model errs.

Adding an agent is adding one file to `agents/`; a scenario that names its tools asks for it.
"""

from orchbench_analytics.demo.sweep import SweepSummary, write_sweep

__all__ = ["SweepSummary", "write_sweep"]
