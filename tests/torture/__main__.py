"""Run the campaign; exit code 1 if anything failed."""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.torture.damages import spoil
from tests.torture.figures import Campaign
from tests.torture.flips import flip_bits
from tests.torture.kills import kill_at_random
from tests.torture.mutations import mutate
from tests.torture.queries import ask_hostile

# Each with the share of the time it has at most; what one leaves over is for the next.
CAMPAIGNS = {
    "flips": (flip_bits, 0.25),
    "damages": (spoil, 0.25),
    "mutations": (mutate, 0.3),
    "queries": (ask_hostile, 0.5),
    "kills": (kill_at_random, 1.0),
}


def main() -> int:
    """Torture a warehouse for so many minutes, or until all was tried that was wanted."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--flips", type=int, default=2_000)
    parser.add_argument("--damages", type=int, default=200)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=13)
    given = parser.parse_args()
    end = time.monotonic() + 60 * given.minutes
    campaigns = []
    for name, (run, share) in CAMPAIGNS.items():
        deadline = time.monotonic() + share * max(end - time.monotonic(), 0)
        campaign = Campaign(name, getattr(given, name), deadline)
        if not campaign.wanted:
            continue
        campaigns.append(campaign)
        with tempfile.TemporaryDirectory(prefix=f"orchbench-{name}-") as scratch:
            began = time.monotonic()
            run(campaign, Path(scratch), random.Random(given.seed))
            campaign.counts["seconds"] = round(time.monotonic() - began)
        for row in campaign.rows():
            print("{:10}  {:40}  {:>20}".format(*row), flush=True)
    return int(any(campaign.failures for campaign in campaigns))


if __name__ == "__main__":
    sys.exit(main())
