"""answer_likelihoods: the items of ask_llms as texts to continue, a language model -> how likely each answer is."""

import pandas as pd

from cxprobe.likelihood import score_choices
from cxprobe.models import load_language_model
from cxprobe.prompting import build_choices, inferences_of, load_continuations, load_material, material_files
from cxprobe.seeding import draw_places
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table, write_table

COMPARED = 64  # questions on which another precision is compared with float32


def answer_likelihoods(stage: Stage) -> Outcome:
    name, slug = stage.item["construction"], stage.item["model"]
    asked, settings, seed = stage.params.ask_llms, stage.params.answer_likelihoods, stage.params.seed
    for path in material_files(name, asked):
        stage.use(path)
    pool = inferences_of(read_table(stage.use(DATA / "pool_examples" / f"{name}.parquet")))
    material = load_material(name, asked, pool, seed=seed)
    questions, choices = build_choices(name, material, load_continuations(), asked, settings, seed=seed)
    spec = stage.params.models[slug]
    model = load_language_model(slug, spec, settings.device)
    scores = score_choices(model, choices, settings)
    write_table(questions, stage.data / "questions.parquet")
    write_table(scores, stage.data / "scores.parquet")
    metrics: dict[str, float] = {"questions": len(questions), "scores": len(scores)}
    if spec.dtype != "float32":
        reference = load_language_model(slug, spec.model_copy(update={"dtype": "float32"}), settings.device)
        sample = [choices[place] for place in draw_places(len(choices), COMPARED, seed, "compared")]
        expected = score_choices(reference, sample, settings)
        metrics["answers_as_in_float32"] = _agreement(scores, expected)
    return Outcome(metrics, facts={"weights": model.fingerprint, "kind": type(model).__name__})


def _agreement(scores: pd.DataFrame, expected: pd.DataFrame) -> float:
    """Return the share of questions and scores for which the likeliest answer is the same."""
    by = ["id", "score"]
    best, wanted = (table.loc[table.groupby(by)["value"].idxmax(), [*by, "answer"]] for table in (scores, expected))
    both = wanted.merge(best, on=by, validate="one_to_one", suffixes=("_expected", ""))
    return float((both["answer"] == both["answer_expected"]).mean())


if __name__ == "__main__":
    run_stage(answer_likelihoods, "model", "construction")
