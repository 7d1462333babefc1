"""evaluate_pairs: the answers and replies of all models on minimal pairs -> responses, rates, runs."""

from functools import partial
from pathlib import Path

import pandas as pd

from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.models.params import Member
from cxprobe.models.scores import CONTEXT_SCORES
from cxprobe.models.texts import read_pair_answers
from cxprobe.results.evaluate import Evaluation, evaluate
from cxprobe.results.params import task_members
from cxprobe.results.rates import ALL
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.pairs.evaluate import (
    FACETS,
    KEPT,
    PUBLISHED,
    EvaluationConfig,
    decide_pairs,
    further_rates,
    override,
    pair_responses,
    pairs_beside_published,
    pairs_for,
    pool_pairs,
)
from cxprobe.tasks.pairs.params import PairsStage
from cxprobe.tasks.pairs.replies import responses_of_replies
from cxprobe.tasks.pairs.sources import MADE, OWN_PAIRS, folder_of, made_file, made_files, read_made


def evaluate_pairs(stage: Stage[PairsStage]) -> Outcome:
    section, members = stage.params.pairs, task_members(stage.params)
    made = {source: read_made([stage.use(path) for path in files]) for source, files in made_files(section).items()}
    own = made.get(OWN_PAIRS, pd.DataFrame(columns=["construction", "tests", "context"]))
    meaning = own.loc[own["tests"] == "meaning", "construction"].unique().tolist()
    score = section.evaluate.score
    if len(own) and score in CONTEXT_SCORES and (own["context"] == "").all():
        raise DataError(f"pairs.evaluate.score: {score} needs a context, and no pair has one; take another")
    published = [pd.read_csv(stage.use(path), sep="\t") for path in PUBLISHED] if len(own) else []
    inside = folder_of(next(iter(made)))

    def responses(member: Member, folder: Path) -> pd.DataFrame | None:
        root = folder.parents[len(inside.parts) - 1] if inside.parts else folder
        parts = []
        for source, pairs in made.items():
            how = EvaluationConfig.of(section, source)
            shown = pairs_for(member, pairs, section.models if source == OWN_PAIRS else {})
            if shown.empty:
                continue
            if member.is_asked:
                replies = read_table(root / folder_of(source) / "replies.parquet")
                parts.append(responses_of_replies(shown, replies, how))
            else:
                answers = read_pair_answers(root / folder_of(source))
                parts.append(pair_responses(decide_pairs(shown, answers, how), how))
        return pd.concat(parts, ignore_index=True) if parts else None

    def dataset(construction: str, source: str) -> Path:
        if source in section.benchmarks:
            return MADE / folder_of(source).with_suffix(".parquet")
        return stage.use(MADE if construction == ALL else made_file(construction, source))

    def settings(source: str) -> list[str]:
        of_source = f"pairs.benchmarks.{source}" if source in section.benchmarks else "pairs.make"
        return ["pairs.score", "pairs.evaluate", "pairs.ask", of_source]

    def tables(rates: pd.DataFrame, _: pd.DataFrame) -> dict[str, pd.DataFrame]:
        return {"tables/beside_published": pairs_beside_published(rates, *published)} if published else {}

    task = Evaluation(
        responses,
        FACETS,
        settings,
        dataset,
        pool=pool_pairs,
        further=further_rates,
        override=partial(override, meaning=meaning, members=members),
        tables=tables,
        kept=KEPT,
        inside=inside,
    )
    return evaluate(stage, task)


if __name__ == "__main__":
    run_stage(evaluate_pairs, PairsStage)
