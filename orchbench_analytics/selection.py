"""What people ask about: which models, experiments, languages, profiles and results names mean.

A model is named by its name, or by `model/experiment` as tables show it. Both may fit: a model
`a/b`, and the experiment `b` of a model `a`. Such a name is refused, with both spelled out. Every
command and every method finds models here. An error says what there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from orchbench_analytics.errors import NoAnswersError, SelectionError, few, suggest
from orchbench_analytics.profiles import BUILT_IN, SPEC, Profile, profile_of
from orchbench_analytics.store.manifest import Manifest, narrow, scan_table
from orchbench_analytics.tables import SCENARIO_SCORES

if TYPE_CHECKING:
    import polars as pl

    Rows = TypeVar("Rows", pl.DataFrame, pl.LazyFrame)

Contender = tuple[str, str]  # a model and its experiment
RUNS_FILE = "<scenario>_out.json"


class Selection(NamedTuple):
    """What is asked about: names, or patterns such as `graded-*`; nothing given is all."""

    models: Sequence[str | Contender] = ()
    experiments: Sequence[str] = ()
    languages: Sequence[str] = ()


class Chosen(NamedTuple):
    """The models and languages that a selection means; None is all of them."""

    contenders: list[Contender] | None = None
    languages: list[str] | None = None

    def among(self, manifest: Manifest) -> list[Contender]:
        """The models with their experiments that are meant in a warehouse."""
        if self.contenders is not None:
            return self.contenders
        return sorted({(part.model, part.experiment) for part in manifest.parts})

    def of(self, rows: Rows) -> Rows:
        """The rows about what was chosen, by the columns model, experiment and language."""
        import polars as pl

        if self.languages is not None:
            rows = rows.filter(pl.col("language").is_in(self.languages))
        if self.contenders is None:
            return rows
        models = {model for model, _ in self.contenders}
        rows = rows.filter(pl.col("model").is_in(models))  # Parquet files are skipped by this
        pairs = pl.DataFrame(self.contenders, schema=["model", "experiment"], orient="row")
        kept = rows.lazy().join(
            pairs.lazy(), on=["model", "experiment"], how="semi", maintain_order="left"
        )
        # mypy looks at each type that `Rows` stands for, and finds the condition constant.
        return kept if isinstance(rows, pl.LazyFrame) else kept.collect()  # type: ignore[redundant-expr]


class Asked(NamedTuple):
    """What a question is about: a profile, the models and languages meant, those named singly."""

    root: Path
    manifest: Manifest
    profile: Profile
    chosen: Chosen
    sides: tuple[Contender | None, ...] = ()

    @property
    def contenders(self) -> list[Contender]:
        """The models with their experiments that are meant."""
        return self.chosen.among(self.manifest)

    @property
    def named_sides(self) -> tuple[Contender, ...]:
        """The models that the question names singly."""
        return tuple(side for side in self.sides if side is not None)

    def in_batches(self, size: int) -> Iterator[Asked]:
        """The same question about so many models at a time."""
        for first in range(0, len(self.contenders), size):
            some = self.contenders[first : first + size]
            yield self._replace(chosen=self.chosen._replace(contenders=some))

    def rows(self, table: str) -> pl.LazyFrame:
        """The rows of a table of scores; files that have none of them are not read."""
        manifest = narrow(self.manifest, profile=self.profile.name, **self.chosen._asdict())
        rows = scan_table(self.root, manifest, table).filter(profile=self.profile.name)
        return self.chosen.of(rows)

    def require_scores(self, rows: pl.DataFrame) -> None:
        """Refuse a model that was named singly and has none of the rows."""
        there = set(rows.select("model", "experiment").unique().iter_rows())
        for side in self.named_sides:
            if side not in there:
                raise SelectionError(f"{'/'.join(side)} has no scores under {self.profile.name}")


class Result(NamedTuple):
    """A model's results in one experiment and language."""

    model: str
    experiment: str
    language: str


def ask(
    root: Path,
    manifest: Manifest,
    *,
    profile: str | None = None,
    selection: Selection,
    sides: Sequence[str | Contender | None] = (),
) -> Asked:
    """What a question is about: what its names mean in a warehouse.

    Where all sides of a comparison are named, nothing else is looked at.
    """
    chosen = choose_in(manifest, selection)
    known = chosen.among(manifest)
    found = tuple(None if side is None else find_contender(side, known) for side in sides)
    if found and None not in found:
        chosen = chosen._replace(contenders=[side for side in found if side is not None])
    return Asked(root, manifest, scored_profile(root, manifest, profile), chosen, found)


def choose_in(manifest: Manifest, selection: Selection) -> Chosen:
    """What a selection means among the models of a warehouse."""
    return choose({(p.model, p.experiment, p.language) for p in manifest.parts}, selection)


def choose(known: Iterable[tuple[str, str, str]], selection: Selection) -> Chosen:
    """What a selection means among the models, experiments and languages that there are."""
    models, experiments, languages = map(several, selection)
    there = sorted(known)
    contenders = sorted({(model, experiment) for model, experiment, _ in there})
    chosen_languages = _fitting(languages, {language for *_, language in there}, "language")
    if experiments:
        fitting = _fitting(experiments, {experiment for _, experiment in contenders}, "experiment")
        contenders = [pair for pair in contenders if pair[1] in (fitting or ())]
    if models:
        named = {pair for given in models for pair in find_contenders(given, contenders)}
        contenders = sorted(named)
    return Chosen(contenders if models or experiments else None, chosen_languages)


def find_removed(removed: Iterable[Contender], selection: Selection) -> list[Contender]:
    """The models and experiments that a selection means among those removed before, if any."""
    try:
        chosen = choose([(model, experiment, "") for model, experiment in removed], selection)
    except SelectionError:
        return []
    return chosen.contenders or []


def find_contenders(name: str | Contender, known: Sequence[Contender]) -> list[Contender]:
    """The models with their experiments that a name or a pattern means; a pair means itself."""
    if not isinstance(name, str):
        if tuple(name) not in known:
            raise _unknown("/".join(name), ["/".join(pair) for pair in known], "model")
        return [name]
    own = [pair for pair in known if pair[0] == name]
    joined = [pair for pair in known if "/".join(pair) == name]
    if (own and joined) or len(joined) > 1:
        raise _ambiguous(name, own, joined)
    if own or joined:
        return own or joined
    lowered = name.lower()
    found = [pair for pair in known if fnmatchcase(pair[0].lower(), lowered)]
    found = found or [pair for pair in known if fnmatchcase("/".join(pair).lower(), lowered)]
    if not found:
        spelled = ["/".join(pair) for pair in known] if "/" in name else [m for m, _ in known]
        raise _unknown(name, sorted({*spelled}), "model")
    return found


def find_contender(name: str | Contender, known: Sequence[Contender]) -> Contender:
    """The one model with its experiment that a name means; a pair means itself."""
    found = find_contenders(name, known)
    if len(found) > 1:
        names = few(["/".join(pair) for pair in found])
        what = "has several experiments" if found[0][0] == name else "fits several models"
        raise SelectionError(f"{name!r} {what}; choose one of {names}")
    return found[0]


def matching_names(pattern: str, known: Sequence[str], kind: str) -> list[str]:
    """The known names that a pattern such as `graded-*` fits, whatever the case of letters."""
    lowered = pattern.lower()
    found = [name for name in known if name == pattern] or [
        name for name in known if fnmatchcase(name.lower(), lowered)
    ]
    if not found:
        raise _unknown(pattern, known, kind)
    return found


def several(given: Any) -> list[Any]:
    """All that was given; a single text or path is one, not a sequence of letters."""
    return [given] if isinstance(given, str | Path) else [*given]


def _fitting(patterns: Sequence[str], known: Iterable[str], kind: str) -> list[str] | None:
    if not patterns:
        return None
    names = sorted(known)
    return sorted({name for given in patterns for name in matching_names(given, names, kind)})


def _ambiguous(name: str, own: Sequence[Contender], joined: Sequence[Contender]) -> SelectionError:
    pairs = [*own, *joined]
    meanings = " or ".join(f"model {model!r} experiment {other!r}" for model, other in pairs)
    return SelectionError(
        f"{name!r} may mean {meanings}; choose with --experiment "
        f"(in Python, give a pair such as {pairs[0]!r})"
    )


def _unknown(name: str, known: Sequence[str], kind: str) -> SelectionError:
    return SelectionError(f"no {kind} {name!r}; {suggest(name, known)}")


def scored_profile(root: Path, manifest: Manifest, name: str | None = None) -> Profile:
    """A profile that the warehouse was scored under; `spec`, or whatever has rows, by default."""
    with_rows = profiles_with_rows(manifest)
    if name is None:
        name = next(iter(with_rows), SPEC.name)
    if name in manifest.profiles:
        profile = profile_of(manifest.profiles[name])
        if with_rows and name not in with_rows:
            lacking = (
                f"{root} has only result files, and {name} scores answers: ingest the runs "
                f"({RUNS_FILE}) as well"
                if profile.scored_from == "answers"
                else "no result file has whole rows in its detailed_results"
            )
            there = f"there are scores under --profile {with_rows[0]}"
            raise NoAnswersError(f"nothing is scored under {name}: {lacking}; {there}")
        return profile
    found = f", only under {', '.join(manifest.profiles)}" if manifest.profiles else ""
    close = get_close_matches(name.removesuffix(".toml"), manifest.profiles, n=1)
    wanted = name if name in BUILT_IN or name.endswith(".toml") else "FILE.toml"
    score = f"score it with: orchbench score {quote(f'{root}')} --profile {quote(wanted)}"
    remedy = f"did you mean {close[0]}?" if close else score
    raise SelectionError(f"{root} is not scored under {name!r}{found}; {remedy}")


def profiles_with_rows(manifest: Manifest) -> list[str]:
    """The profiles that some scenario has scores under, `spec` first."""
    scored = {g.profile for g in manifest.scores if g.row_counts.get(SCENARIO_SCORES.name)}
    return sorted(scored & manifest.profiles.keys(), key=lambda name: (name != SPEC.name, name))


def require_answers(profile: Profile, what: str) -> None:
    """Refuse what is made from answers under a profile that has none."""
    if profile.scored_from == "results":
        raise NoAnswersError(
            f"{what} needs the answers themselves, and {profile.name} has only what result files "
            f"say about each scenario: ingest the runs ({RUNS_FILE}), then choose another --profile"
        )


def one_result(
    manifest: Manifest, model: str, experiment: str | None, language: str | None
) -> Result:
    """The one result that was asked for."""
    (result,) = results_of(manifest, model, experiment, language)
    return result


def results_of(
    manifest: Manifest,
    model: str,
    experiment: str | None,
    language: str | None,
    *,
    several: bool = False,
) -> list[Result]:
    """The result that was asked for; if several may be, one for each language."""
    known = sorted({Result(part.model, part.experiment, part.language) for part in manifest.parts})
    of_experiment = [result for result in known if experiment in (None, result.experiment)]
    named = find_contenders(model, sorted({result[:2] for result in of_experiment or known}))
    chosen = [
        result
        for result in of_experiment
        if result[:2] in named and (language is None or language.upper() == result.language.upper())
    ]
    is_one_experiment = len({result.experiment for result in chosen}) == 1
    if len(chosen) == 1 or (several and is_one_experiment):
        return chosen
    if chosen and is_one_experiment:
        languages = " or ".join(f"--language {result.language}" for result in chosen)
        raise SelectionError(
            f"{model} has several languages: add {languages}, or --output DIR for a file of each"
        )
    if chosen:
        there = "; ".join(f"--experiment {r.experiment} --language {r.language}" for r in chosen)
        raise SelectionError(f"there are several of {model}, choose one: {there}")
    places = ", ".join(f"{r.experiment} in {r.language}" for r in known if r[:2] in named)
    raise SelectionError(
        f"no such results of {model!r}: there are {places} (experiment and language)"
    )
