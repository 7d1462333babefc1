"""evaluate_pairs: what all models answered, replied, and what their probes took for right -> responses, rates, runs."""

from pathlib import Path
from typing import Any, cast

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.files.writing import DATA
from cxprobe.lm.params import Member
from cxprobe.lm.scores import CONTEXT_SCORES
from cxprobe.lm.texts import read_pair_answers
from cxprobe.pairs.balance import with_balance
from cxprobe.pairs.evaluate import (
    FACETS,
    KEPT,
    HowToJudge,
    answered_in,
    as_items,
    decide_pairs,
    further_rates,
    of_several,
    pair_responses,
    pairs_for,
    pool_pairs,
    settle,
    with_ways,
)
from cxprobe.pairs.params import PairsStage, ProbePairs
from cxprobe.pairs.replies import judge_replies, read_replies, reply_responses
from cxprobe.pairs.report import PUBLISHED, pairs_beside_published
from cxprobe.pairs.sources import MADE, OWN_PAIRS, folder_of, made_files, read_made
from cxprobe.pairs.ways import agreement_of_ways, verdicts_of_models, way_responses
from cxprobe.people.estimates import human_agreement, load_ratings
from cxprobe.report.evaluate import Evaluation, evaluate
from cxprobe.report.judging import line_members
from cxprobe.report.rates import ALL
from cxprobe.report.tables import with_blanks
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.stats import clusters_by


def evaluate_pairs(stage: Stage[PairsStage]) -> Outcome:
    section, members = stage.params.pairs, line_members(stage.params)
    made = {source: read_made([stage.use(path) for path in files]) for source, files in made_files(section).items()}
    own = made.get(OWN_PAIRS, pd.DataFrame(columns=["construction", "control", "context"]))
    if len(own) and section.judge.score in CONTEXT_SCORES and (own["context"] == "").all():
        raise DataError(f"pairs.judge.score: {section.judge.score} needs a context, and no pair has one; take another")
    predicted, found = dict[str, dict[str, pd.DataFrame]](), dict[str, Any]()
    inside = folder_of(next(iter(made)))

    def responses(member: Member, folder: Path) -> pd.DataFrame | None:
        root = folder.parents[len(inside.parts) - 1] if inside.parts else folder
        parts = []
        for source, pairs in made.items():
            how = HowToJudge.of(section, source)
            shown = pairs_for(member, pairs, section.models if source == OWN_PAIRS else {})
            if shown.empty:
                continue
            shown, of_source = with_balance(shown, how.cell), root / folder_of(source)
            if member.is_asked:
                read = read_replies(shown, read_table(of_source / "replies.parquet"), how)
                parts += [pair_responses(judge_replies(shown, read, how), how), reply_responses(read, how)]
            else:
                parts.append(pair_responses(decide_pairs(shown, read_pair_answers(of_source), how), how))
        if member.slug in section.probed:
            probed, names = stage.use(DATA / "probe_pairs" / member.slug), cast(ProbePairs, section.probe).constructions
            predicted[member.slug] = {name: read_table(probed / f"{name}.parquet") for name in names}
        return pd.concat(parts, ignore_index=True) if parts else None

    def pooled(decided: pd.DataFrame) -> pd.DataFrame:
        asked = {model: probed.asked for model, probed in section.probed.items()}
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
            meaning = of_several(verdicts, found["answered"], ["meaning"])
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
        return ["pairs.score", "pairs.judge", "pairs.ask", of_source]

    task = Evaluation(
        responses,
        FACETS,
        settings,
        dataset,
        pool=pooled,
        further=lambda _decided: further_rates(found["responses"], found["answered"]),
        settle=lambda rates: settle(
            rates, dict(own[["construction", "control"]].drop_duplicates().to_numpy()), members
        ),
        tables=tables,
        kept=KEPT,
        inside=inside,
    )
    return evaluate(stage, task)


if __name__ == "__main__":
    run_stage(evaluate_pairs, PairsStage)
