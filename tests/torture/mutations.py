"""Mutated documents: each is taken or refused with a reason, in bounded time, without a crash."""

import random
import shutil
import time
from pathlib import Path
from typing import NamedTuple

from orchbench_analytics import open_warehouse
from orchbench_analytics.queries import views
from tests.documents import agent_card, write
from tests.ingest.test_fuzz import CORRUPTIONS, kinds
from tests.torture.figures import Campaign
from tests.torture.processes import start

_BATCH = 250
_LONGEST_SECONDS = 600


class Outcome(NamedTuple):
    """What became of a batch: files by status, and the CPU seconds it took."""

    taken: int
    refused: int
    ignored: int
    seconds: float


def mutate(campaign: Campaign, path: Path, chance: random.Random) -> None:
    """Ingest, score and read batch after batch."""
    slowest = 0.0
    while campaign.goes_on:
        seed = chance.randrange(2**32)
        try:
            outcome = start(try_batch, path / "batch", seed).result(_LONGEST_SECONDS)
        except AssertionError as error:
            campaign.fail(f"batch of seed {seed}: {error}")
            outcome = Outcome(0, 0, 0, 0.0)
        campaign.done += _BATCH
        campaign.counts.update(taken=outcome.taken, refused=outcome.refused)
        slowest = max(slowest, outcome.seconds)
        campaign.counts["CPU ms a document, slowest batch"] = round(1000 * slowest / _BATCH)
        campaign.note()


def try_batch(path: Path, seed: int) -> Outcome:
    """Write mutated documents, ingest and score them, and read every view."""
    chance = random.Random(seed)
    shutil.rmtree(path, ignore_errors=True)
    write(path / "tree/agent_cards/EN/weather.json", agent_card())
    for number in range(_BATCH):
        place, document = kinds(number)
        data = chance.choice(CORRUPTIONS)(chance, document)
        if chance.random() < 0.1:
            place, document = Path(f"agent_cards/EN/{number}.json"), agent_card()
            data = chance.choice(CORRUPTIONS)(chance, document)
        if chance.random() < 0.1:
            place = place.with_suffix(chance.choice((".json.gz", ".json.zst")))
        write(path / "tree" / place, data)
    began = time.process_time()
    opened = open_warehouse(path / "warehouse", create=True)
    opened.ingest(path / "tree", jobs=1)
    seconds = time.process_time() - began
    sources = opened.sources()
    files = sorted(str(file) for file in (path / "tree").rglob("*.json*"))
    assert sources["path"].sort().to_list() == files
    refused = sources.filter(status="refused")
    assert refused["reason"].null_count() == refused["message"].null_count() == 0
    for name in views():
        opened.table(name).collect()
    assert not opened.verify()
    ignored = len(sources.filter(status="ignored"))
    return Outcome(len(sources.filter(status="taken")), len(refused), ignored, seconds)
