"""The program `orchbench`, also run by `python -m orchbench_analytics`."""

import signal


def main() -> None:
    """Run the command line. While it is imported, Ctrl-C ends the process without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from orchbench_analytics.cli import main as run  # after the line above

    run()


if __name__ == "__main__":
    main()
