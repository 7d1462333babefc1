"""summarise_prompts: judged replies and likelihoods of every model -> accuracies beside published ones, figures."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from cxprobe.judging import accuracy, count_outcomes, judge_likelihoods, spread_over_prompts
from cxprobe.reporting import (
    accuracy_beside_published,
    load_published_prompts,
    prompted_beside_published,
    prompted_figures,
    published_inference,
    published_reasoning,
    published_spread,
    with_published_names,
)
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table

PUBLISHED = Path("published/prompts.yaml")
REPLY = "reply"  # how a model is asked that answers in words; the others have the score's name
WHO = ["model", "asked"]
SETTING = ["set", "shots", "examples", "chain_of_thought"]
REASONING = ["construction", "chain_of_thought"]


def summarise_prompts(stage: Stage) -> Outcome:
    judged = _judged(stage)
    reasoning = judged[judged["kind"] == "reasoning"]
    by_prompt = accuracy(judged, [*WHO, *SETTING, "prompt"])
    tables = {
        "outcomes": count_outcomes(judged, [*WHO, "construction", *SETTING, "prompt"]),
        "accuracy_by_construction": accuracy(judged, [*WHO, "construction", *SETTING]),
        "accuracy_by_setting": accuracy(judged, [*WHO, *SETTING]),
        "accuracy_by_prompt": by_prompt,
        "accuracy_by_test": accuracy(reasoning, [*WHO, *REASONING, "answerable", "test"]),
        "accuracy_answerable": accuracy(reasoning, [*WHO, "answerable", "prompt", "chain_of_thought"]),
        "spread_over_prompts": spread_over_prompts(by_prompt, [*WHO, *SETTING]),
    }
    beside = _beside_published(stage, tables, reasoning)
    metrics = {
        str(model): {
            f"{row['asked']}_{row['set']}": row[["accuracy", "low", "high", "n", "macro_f1", "unparsed"]].to_dict()
            for _, row in rows.iterrows()
        }
        for model, rows in accuracy(judged, [*WHO, "set"]).groupby("model", sort=False)
    }
    return Outcome(metrics, tables=tables | beside, figures=_figures(stage, tables))


def _judged(stage: Stage) -> pd.DataFrame:
    """Return every question with every model's answer, judged."""
    grid = stage.params.grid.prompts
    tables = []
    for name in grid.constructions:
        for slug in grid.llms:
            replies = read_table(stage.use(DATA / "judge_replies" / slug / f"{name}.parquet"))
            tables.append(replies.drop(columns=["reply", "failed", "error"]).assign(model=slug, asked=REPLY))
        for slug in grid.models:
            folder = stage.use(DATA / "answer_likelihoods" / slug / name)
            likelihoods = judge_likelihoods(
                read_table(folder / "questions.parquet"), read_table(folder / "scores.parquet")
            )
            tables.append(likelihoods.rename(columns={"score": "asked"}).assign(model=slug))
    return pd.concat(tables, ignore_index=True).drop(columns="question")


def _beside_published(
    stage: Stage, tables: Mapping[str, pd.DataFrame], reasoning: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    names = load_published_prompts(stage.use(PUBLISHED))
    inference = with_published_names(names, _inferences(tables["accuracy_by_setting"]))
    each, all_ = accuracy(reasoning, [*WHO, *REASONING]), accuracy(reasoning, [*WHO, "chain_of_thought"])
    told = pd.concat([each, all_.assign(construction="all")], ignore_index=True).assign(items="own")
    spread = with_published_names(names, tables["spread_over_prompts"]).assign(source="this run")
    published = published_spread(names, _table(stage, names.prompts))
    spreads = pd.concat([spread, published.assign(asked=REPLY, items="the paper's")], ignore_index=True)
    columns = [*SETTING, *WHO, "items", "prompts", "lowest", "mean", "highest", "range", "source"]
    return {
        "inference_beside_published": prompted_beside_published(
            inference, published_inference(names, _table(stage, names.inference)), SETTING
        ),
        "reasoning_beside_published": prompted_beside_published(
            told, published_reasoning(names, _table(stage, names.reasoning)), REASONING
        ),
        "prompts_beside_published": spreads[columns],
    }


def _figures(stage: Stage, tables: Mapping[str, pd.DataFrame]) -> dict[str, Figure]:
    score = stage.params.summarise_prompts.score
    named = ["accuracy_by_construction", "accuracy_by_test", "accuracy_answerable", "accuracy_by_setting"]
    by_construction, by_test, by_prompt, by_setting = (
        table[table["asked"].isin([REPLY, score])].assign(label=_labels) for table in (tables[name] for name in named)
    )
    names = load_published_prompts(PUBLISHED)
    beside = accuracy_beside_published(
        with_published_names(names, _inferences(by_setting)),
        published_inference(names, _table(stage, names.inference)),
        f"Inference, beside {names.source}",
    )
    figures = prompted_figures(by_construction, by_test, by_prompt) | {"inference_beside_published": beside}
    return {f"figures/{name}": figure for name, figure in figures.items()}


def _labels(table: pd.DataFrame) -> list[str]:
    """Return what a model is called in figures: its slug, how it was asked, and whether it reasoned first."""
    return [
        f"{model}{'' if asked == REPLY else f' ({asked})'}{', reasoned' if thought else ''}"
        for model, asked, thought in table[[*WHO, "chain_of_thought"]].itertuples(index=False)
    ]


def _inferences(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["set"] != "reasoning"]


def _table(stage: Stage, path: str) -> pd.DataFrame:
    return pd.read_csv(stage.use(Path(path)), sep="\t")


if __name__ == "__main__":
    run_stage(summarise_prompts)
