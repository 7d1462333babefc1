"""evaluate_pairs: what all models answered, replied, and what their probes took for right -> responses, rates, runs."""

from pathlib import Path
from typing import Any, cast

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.labels.estimates import human_agreement, load_ratings
from cxprobe.models.params import Member
from cxprobe.models.scores import CONTEXT_SCORES
from cxprobe.models.texts import read_pair_answers
from cxprobe.results.evaluate import Evaluation, evaluate
from cxprobe.results.members import task_members
from cxprobe.results.rates import ALL
from cxprobe.results.words import with_blanks
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.stats import clusters_by
from cxprobe.tasks.pairs.balance import with_balance
from cxprobe.tasks.pairs.evaluate import (
    FACETS,
    KEPT,
    EvaluationConfig,
    answered_in,
    as_items,
    decide_pairs,
    further_rates,
    override,
    pair_responses,
    pairs_for,
    pool_pairs,
    poolable,
    with_ways,
)
from cxprobe.tasks.pairs.params import PairsStage, ProbePairs
from cxprobe.tasks.pairs.replies import evaluate_replies, read_replies, reply_responses
from cxprobe.tasks.pairs.report import PUBLISHED, pairs_beside_published
from cxprobe.tasks.pairs.sources import MADE, OWN_PAIRS, folder_of, made_files, read_made
from cxprobe.tasks.pairs.ways import agreement_of_ways, verdicts_of_models, way_responses


def evaluate_pairs(stage: Stage[PairsStage]) -> Outcome:
    section, members = stage.params.pairs, task_members(stage.params)
    made = {source: read_made([stage.use(path) for path in files]) for source, files in made_files(section).items()}
    own = made.get(OWN_PAIRS, pd.DataFrame(columns=["construction", "control", "context"]))
    if len(own) and section.evaluate.score in CONTEXT_SCORES and (own["context"] == "").all():
        raise DataError(
            f"pairs.evaluate.score: {section.evaluate.score} needs a context, and no pair has one; take another"
        )
    predicted, found = dict[str, dict[str, pd.DataFrame]](), dict[str, Any]()
    inside = folder_of(next(iter(made)))

    def responses(member: Member, folder: Path) -> pd.DataFrame | None:
        root = folder.parents[len(inside.parts) - 1] if inside.parts else folder
        parts = []
        for source, pairs in made.items():
            how = EvaluationConfig.of(section, source)
            shown = pairs_for(member, pairs, section.models if source == OWN_PAIRS else {})
            if shown.empty:
                continue
            shown, of_source = with_balance(shown, how.cell), root / folder_of(source)
            if member.is_asked:
                read = read_replies(shown, read_table(of_source / "replies.parquet"), how)
                parts += [pair_responses(evaluate_replies(shown, read, how), how), reply_responses(read, how)]
            else:
                parts.append(pair_responses(decide_pairs(shown, read_pair_answers(of_source), how), how))
        if member.slug in section.probe_models:
            folder_of_probes = stage.use(DATA / "probe_pairs" / member.slug)
            names = cast(ProbePairs, section.probe).constructions
            predicted[member.slug] = {name: read_table(folder_of_probes / f"{name}.parquet") for name in names}
        return pd.concat(parts, ignore_index=True) if parts else None

    def pooled(decided: pd.DataFrame) -> pd.DataFrame:
        asked = {model: probe_models.asked for model, probe_models in section.probe_models.items()}
        found["answered"] = answered_in(decided, members, stage.params.report.limit)
        decisions = as_items(decided)
        balanced = decisions[decisions["balanced"]].rename(columns={"words": "source"})
        found["clusters"] = clusters_by(balanced, ["model", "construction", "source"])
        found["verdicts"] = verdicts_of_models(decisions, predicted, asked)
        ways = way_responses(found["verdicts"], predicted) if predicted else None
        found["responses"] = decided if ways is None else with_ways(decided, ways)
        return pool_pairs(found["responses"], found["answered"])

    def tables(rates: pd.DataFrame) -> dict[str, pd.DataFrame]:
        of_own = {"tables/clusters": found["clusters"]}
        if len(own):
            ratings = load_ratings(section.constructions)
            people = human_agreement(ratings[ratings["kind"] == "pairs"])
            published = [pd.read_csv(stage.use(path), sep="\t") for path in PUBLISHED]
            of_own["tables/beside_published"] = pairs_beside_published(rates, people, *published)
        if predicted:
            verdicts = found["verdicts"].assign(balanced=True)
            meaning = poolable(verdicts, found["answered"], ["meaning"])
            of_own["tables/agreement"] = with_blanks(
                agreement_of_ways(pd.concat([verdicts, meaning], ignore_index=True))
            )
        return of_own

    def dataset(construction: str, source: str) -> Path:
        if source in section.benchmarks:
            return MADE / folder_of(source).with_suffix(".parquet")
        return stage.use(MADE if construction == ALL else MADE / f"{construction}.parquet")

    def settings(source: str) -> list[str]:
        of_source = f"pairs.benchmarks.{source}" if source in section.benchmarks else "pairs.make"
        return ["pairs.score", "pairs.evaluate", "pairs.ask", of_source]

    task = Evaluation(
        responses,
        FACETS,
        settings,
        dataset,
        pool=pooled,
        further=lambda _decided: further_rates(found["responses"], found["answered"]),
        override=lambda rates: override(
            rates, dict(own[["construction", "control"]].drop_duplicates().to_numpy()), members
        ),
        tables=tables,
        kept=KEPT,
        inside=inside,
    )
    return evaluate(stage, task)


if __name__ == "__main__":
    run_stage(evaluate_pairs, PairsStage)
