"""The measuring stages: what they write, how they are checked, and that a killed run goes on where it stopped."""

import importlib.util
import json

import numpy as np
import pandas as pd
import pytest
from tiny_lms import save_lm

from conftest import ROOT
from cxprobe.errors import DataError, ModelError
from cxprobe.files.arrays import read_features
from cxprobe.files.tables import read_table, write_table
from cxprobe.lm.language_models import read_model_facts
from cxprobe.lm.params import ModelFacts, ModelSpec, Precision
from cxprobe.lm.texts import Pair, token_scores_of
from cxprobe.pairs.make import pair_table
from cxprobe.run.params import load_params
from cxprobe.run.stage import Stage

pytestmark = pytest.mark.pipeline

NOUNS = ("cat", "dog", "fox", "king", "queen", "bird", "horse")
ITEMS = {
    "score_pairs": {"model": "m"},
    "score_benchmarks": {"model": "m", "benchmark": "own"},
    "score_answers": {"model": "m"},
    "fill_scenarios": {"model": "m"},
    "extract_features": {"model": "m", "construction": "toy"},
}
KINDS = {"score_pairs": "gpt2", "score_benchmarks": "llama", "score_answers": "gpt2"}  # the others take a masked one
OUTPUTS = {
    "score_pairs": ["tokens.parquet"],
    "score_benchmarks": ["tokens.parquet"],
    "score_answers": ["tokens.parquet"],
    "fill_scenarios": [f"toy/{stem}.parquet" for stem in ("items", "scores", "dropped")],
    "extract_features": [
        f"{source}/{name}" for source in ("generated", "mined") for name in ("features.npy", "ids.parquet")
    ],
}
EVERY = pytest.mark.parametrize("name", ITEMS)


class Killed(BaseException):
    pass


def pairs(verbs=("runs", "sings")) -> list[Pair]:
    made = [(noun, other) for noun in NOUNS for other in NOUNS if noun != other]
    return [
        Pair(
            f"{noun}-{other}",
            noun,
            f"we say that the {noun}",
            f" {verbs[0]} and the {other} {verbs[1]}.",
            " the.",
            {},
            {},
        )
        for noun, other in made
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with all that the measuring stages read, to work in."""
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data"
    write_table(pair_table(pairs()), data / "build_pairs" / "toy.parquet")
    write_table(pair_table(pairs(("eats", "reads"))), data / "build_pairs" / "other.parquet")
    write_table(pair_table(pairs()), data / "build_benchmarks" / "own.parquet")
    for name in ("toy", "other"):
        choices = pd.DataFrame({"id": NOUNS, "question": [f"the {noun} runs." for noun in NOUNS], "anywhere": "the"})
        rows = [
            (noun, symbol, f" the {name} {verb}") for noun in NOUNS for symbol, verb in (("0", "sings"), ("1", "eats"))
        ]
        write_table(choices.assign(gold="0"), data / "build_prompts" / name / "choices.parquet")
        write_table(
            pd.DataFrame(rows, columns=["id", "answer", "text"]), data / "build_prompts" / name / "answers.parquet"
        )
    write_table(choices[["id", "question"]], data / "build_prompts" / "toy" / "questions.parquet")
    texts = [(noun, "S1", 0, f"the {noun} is [MASK] today.", "old", "young") for noun in NOUNS]
    columns = ["item", "scenario", "draw", "text", "first", "second"]
    write_table(pd.DataFrame(texts, columns=columns), data / "build_scenarios" / "toy" / "texts.parquet")
    write_table(pd.DataFrame({"id": NOUNS}), data / "build_scenarios" / "toy" / "items.parquet")
    for source, verb in (("generated", "runs"), ("mined", "sings")):
        sentences = [(f"{source}-{noun}", f"the {noun} {verb} in the garden") for noun in NOUNS]
        write_table(
            pd.DataFrame(sentences, columns=["id", "text"]),
            data / "build_recognition" / "toy" / source / "sentences.parquet",
        )
    return tmp_path


def load_script(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "pipelines" / "measure" / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def stage_of(name: str, item: dict[str, str], dtype: str = "float32", limit: float = 0.5, budget: int = 128) -> Stage:
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    grid = params.grid
    changes = {
        "models": {"m": ModelSpec(name="model", revision=None, sha256=None, dtype=dtype)},
        "precision": Precision(items=8, largest_difference=limit),
        "grid": grid.model_copy(
            update={
                "pairs": grid.pairs.model_copy(update={"constructions": ["toy", "other"]}),
                "prompts": grid.prompts.model_copy(update={"constructions": ["toy", "other"]}),
                "scenarios": grid.scenarios.model_copy(update={"constructions": ["toy"]}),
                "recognition": grid.recognition.model_copy(update={"constructions": {"toy": ["generated", "mined"]}}),
            }
        ),
    }
    for section in ("score_pairs", "score_answers", "fill_scenarios", "extract_features"):
        own = {"token_budget": budget} | ({"bos": "add"} if section.startswith("score") else {})
        changes[section] = getattr(params, section).model_copy(update=own)
    return Stage(name, item, params.model_copy(update=changes))


def measure(name: str, die_after: int | None = None, **changes):
    """Run a stage's work; return the outcome, the stage, and how often the model was called."""
    script, calls = load_script(name), []

    def watched(load):
        def load_watched(*arguments, **options):
            model = load(*arguments, **options)

            def count(*_):
                if len(calls) == die_after:
                    raise Killed
                calls.append(1)

            model.model.register_forward_pre_hook(count)
            return model

        return load_watched

    for loader in ("load_language_model", "load_masked_lm", "load_encoder"):
        if hasattr(script, loader):
            setattr(script, loader, watched(getattr(script, loader)))
    stage = stage_of(name, ITEMS[name], **changes)
    return getattr(script, name)(stage), stage, len(calls)


def model_for(name: str) -> str:
    return KINDS.get(name, "bert")


def contents(folder, name) -> dict[str, object]:
    """Return the numbers that a stage has written."""
    found = {}
    for file in OUTPUTS[name]:
        path = folder / "data" / name / "/".join(ITEMS[name].values()) / file
        if path.suffix == ".npy":
            found[file] = read_features(path.parent).vectors
        elif file == "tokens.parquet":
            found[file] = np.concatenate([one.log_probs for one in token_scores_of(read_table(path))])
        elif file.endswith("scores.parquet"):
            found[file] = read_table(path)[["log_p_first", "log_p_second"]].to_numpy()
    return found


@EVERY
def test_a_stage_writes_raw_answers_and_what_the_model_is(folder, name):
    save_lm(folder / "model", model_for(name))
    outcome, stage, calls = measure(name)
    assert calls > 0
    kinds = {"extract_features": "encoder", "fill_scenarios": "masked"}
    facts = read_model_facts(stage.data)
    assert (facts.name, facts.kind) == ("model", kinds.get(name, "causal"))
    assert facts.weights.startswith("sha256 ")
    assert facts.parameters > 1000
    assert all((stage.data / file).is_file() for file in OUTPUTS[name])
    assert all(np.isfinite(numbers).any() for numbers in contents(folder, name).values())
    assert all(number >= 0 for number in outcome.counts.values())
    assert "difference_from_float32" not in outcome.counts


@EVERY
def test_another_precision_is_checked_before_the_long_work(folder, name):
    save_lm(folder / "model", model_for(name))
    outcome, _, _ = measure(name, dtype="bfloat16")
    assert 0 < outcome.counts["difference_from_float32"] < 0.1
    kept = sorted((folder / "data").rglob("*"))
    with pytest.raises(ModelError, match=r"models\.m: in bfloat16 .* more than precision\.largest_difference"):
        measure(name, dtype="bfloat16", limit=1e-9)
    assert sorted((folder / "data").rglob("*")) == kept


@EVERY
def test_a_killed_run_says_what_it_kept_and_goes_on_where_it_stopped(folder, tmp_path_factory, capsys, name):
    save_lm(folder / "model", model_for(name))
    _, _, every = measure(name, budget=40)
    expected = contents(folder, name)
    (folder / "data" / ".scratch").rename(tmp_path_factory.mktemp("old") / "scratch")
    capsys.readouterr()
    with pytest.raises(Killed):
        measure(name, budget=40, die_after=every - 1)
    said = capsys.readouterr().err
    assert f"{name} m" in said
    assert "stopped after" in said
    assert "kept in" in said
    _, _, rest = measure(name, budget=40)
    assert 0 < rest < every
    for file, numbers in contents(folder, name).items():
        np.testing.assert_allclose(numbers, expected[file], atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", [name for name in ITEMS if name != "extract_features"])
def test_a_finished_stage_that_runs_again_asks_the_model_nothing(folder, name):
    save_lm(folder / "model", model_for(name))
    measure(name)
    expected = contents(folder, name)
    _, _, calls = measure(name)
    assert calls == 0
    for file, numbers in contents(folder, name).items():
        np.testing.assert_array_equal(numbers, expected[file])


def test_a_corrected_pair_costs_the_batches_of_its_own_texts(folder):
    save_lm(folder / "model", "gpt2")
    _, _, every = measure("score_pairs")
    path = folder / "data" / "build_pairs" / "toy.parquet"
    table = read_table(path)
    table.loc[0, "good"] = " runs and the young dog sings."
    write_table(table, path)
    outcome, stage, calls = measure("score_pairs")
    assert 0 < calls < every / 2
    texts = {one.text for one in token_scores_of(read_table(stage.data / "tokens.parquet"))}
    assert {"we say that the cat runs and the young dog sings.", "runs and the young dog sings."} <= texts
    assert outcome.counts["texts"] == len(texts)


def test_pairs_and_a_benchmark_share_what_they_have_in_common(folder):
    save_lm(folder / "model", "gpt2")
    measure("score_pairs")
    _, stage, calls = measure("score_benchmarks")
    assert calls == 0
    assert (stage.data / "tokens.parquet").is_file()


def test_every_text_and_scheme_has_one_row_whatever_number_of_constructions_has_it(folder):
    save_lm(folder / "model", "bert")
    write_table(read_table(folder / "data/build_pairs/toy.parquet"), folder / "data/build_pairs/other.parquet")
    _, stage, _ = measure("score_pairs")
    table = read_table(stage.data / "tokens.parquet")
    assert not table.duplicated(["text", "scheme"]).any()
    assert set(table["scheme"]) == {"pll"}


def test_pairs_that_differ_in_an_unscored_token_are_refused_before_any_is_scored(folder):
    save_lm(folder / "model", "qwen2")  # has no beginning of sequence
    pair = Pair("x", "x", "", "cats run.", "dogs run.", {}, {})
    write_table(pair_table([pair]), folder / "data/build_pairs/other.parquet")
    stage = stage_of("score_pairs", ITEMS["score_pairs"])
    settings = stage.params.score_pairs.model_copy(update={"bos": "as_tokenizer"})
    stage.params = stage.params.model_copy(update={"score_pairs": settings})
    with pytest.raises(DataError, match="1 of 1 pairs, such as x, differ in their first token"):
        load_script("score_pairs").score_pairs(stage)
    assert not (folder / "data" / "score_pairs").exists()


def test_replies_of_an_instructed_model_stand_beside_their_ids_and_its_name(folder):
    pytest.importorskip("inspect_ai")
    item = {"llm": "mock", "construction": "toy"}
    stage = stage_of("ask_llms", item)
    outcome = load_script("ask_llms").ask_llms(stage)
    replies = read_table(stage.data / "replies.parquet")
    assert list(replies.columns) == ["id", "reply", "failed", "error"]
    assert replies["id"].tolist() == list(NOUNS)
    assert set(replies["reply"]) == {"Answer: 1"}
    assert not replies["failed"].any()
    assert outcome.counts == {"requests": 7, "failed": 0}
    assert read_model_facts(stage.data) == ModelFacts("mockllm/model", "instructed", None, "")
    assert json.loads((stage.data / "model.json").read_text())["parameters"] is None
