"""Run the command line with `python -m orchbench_analytics`."""

from orchbench_analytics.cli import main

main()
