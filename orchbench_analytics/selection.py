"""Names that people give: which models, experiments and languages they mean.

A model is named by its name, or by `model/experiment` as tables show it. Both may fit: a model
`a/b`, and the experiment `b` of a model `a`. Such a name is refused, with both spelled out. Every
command and every method finds models here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from orchbench_analytics.errors import SelectionError, few, suggest

if TYPE_CHECKING:
    import polars as pl

    Rows = TypeVar("Rows", pl.DataFrame, pl.LazyFrame)

Contender = tuple[str, str]  # a model and its experiment


class Selection(NamedTuple):
    """What is asked about: names, or patterns such as `graded-*`; nothing given is all."""

    models: Sequence[str] = ()
    experiments: Sequence[str] = ()
    languages: Sequence[str] = ()


class Chosen(NamedTuple):
    """The models and languages that a selection means; None is all of them."""

    contenders: list[Contender] | None = None
    languages: list[str] | None = None

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


def find_contenders(name: str, known: Sequence[Contender]) -> list[Contender]:
    """The models with their experiments that a name or a pattern means."""
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
    if not isinstance(name, str):
        if tuple(name) not in known:
            raise _unknown("/".join(name), ["/".join(pair) for pair in known], "model")
        return name
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


def several(given: Iterable[str] | str) -> list[str]:
    """All names that were given; a single text is one name, not a sequence of letters."""
    return [given] if isinstance(given, str) else [*given]


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
