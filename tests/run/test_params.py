from pathlib import Path

import pytest

from conftest import ROOT, change_params
from cxprobe.errors import ParamsError
from cxprobe.run.params import load_params

PRESETS = sorted(path.stem for path in (ROOT / "presets").glob("*.yaml"))


def load_changed(folder: Path, change, preset: str = "embedded"):
    change_params(folder, ROOT / "presets" / f"{preset}.yaml", change)
    return load_params(folder / "params.yaml", ROOT / "constructions")


def faults_of(folder: Path, change, preset: str = "embedded") -> list[str]:
    with pytest.raises(ParamsError) as raised:
        load_changed(folder, change, preset)
    return [line.removeprefix(f"{folder}/params.yaml: ") for line in str(raised.value).splitlines()]


def unpinned() -> dict:
    place = {"folder": "hf://datasets/allenai/c4", "glob": "en/*.json.gz"}
    return {"kind": "files", "format": "jsonl", "text": "text", "url": "url"} | place


def shots(*sources: str) -> dict:
    return {"number": 1, "sources": list(sources), "of_the_construction": True}


def empty_grid() -> dict:
    return {
        "sentences": [],
        "mining": {},
        "labels": [],
        "recognition": {"models": [], "constructions": {}},
        "scenarios": {"models": [], "constructions": []},
        "pairs": {"models": [], "llms": [], "constructions": []},
        "ways": {"models": [], "constructions": []},
        "prompts": {"llms": [], "models": [], "constructions": []},
        "benchmarks": {"models": [], "llms": [], "benchmarks": []},
        "frames": {"llms": [], "constructions": []},
    }


ALIKE = "build_prompts: shots has 1 of ['templatic'] more than once; results are told apart by number and sources alone"


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_complete(preset):
    load_params(ROOT / "presets" / f"{preset}.yaml", ROOT / "constructions")


def test_the_preset_of_pairs_has_one_line_of_work_and_only_its_sections():
    params = load_params(ROOT / "presets" / "pairs.yaml", ROOT / "constructions")
    assert params.lines.model_dump() == {
        "recognition": [],
        "scenarios": [],
        "pairs": ["all"],
        "prompts": [],
        "series": [],
    }
    assert params.grid.pairs.models == ["mini-mlm", "mini-clm"]
    absent = [name for name in type(params).model_fields if getattr(params, name) is None]
    assert absent == [
        *("benchmarks", "llms", "corpora", "generate_sentences", "mine_sentences", "label_sentences"),
        *("build_recognition", "build_scenarios", "build_prompts", "write_frames", "extract_features", "tune_probes"),
        *("fit_probes", "fill_scenarios", "ask_pairs", "score_answers", "fit_pair_probes"),
        *("judge_ways", "judge_answers"),
    ]


def test_every_part_of_the_grid_may_be_empty(tmp_path):
    def change(params):
        params.clear()
        params.update(
            seed=1,
            lines={line: [] for line in ("recognition", "scenarios", "pairs", "prompts", "series")},
            grid=empty_grid(),
        )

    assert load_changed(tmp_path, change).models is None


def test_all_faults_are_told_at_once_each_with_its_place(tmp_path):
    def spoil(params):
        params["grid"]["recognition"]["models"] = ["minilm", "minilmm"]
        params["grid"]["sentences"].append("let-alnoe")
        params["grid"]["mining"]["let-alone"] = "documentatoin"
        params["fit_probes"]["c"] = params["fit_probes"].pop("C")
        params["tune_probes"]["folds"] = 1
        params["judge_pairs"]["scheme"] = "pll_word_l2r"
        del params["build_scenarios"]

    assert [fault.partition(" (allowed")[0] for fault in faults_of(tmp_path, spoil)] == [
        "tune_probes.folds: 1 is not allowed: input should be greater than or equal to 2",
        "fit_probes.C: missing; nothing is assumed in its place, so give it a value",
        "fit_probes.c: unknown key",
        "grid.sentences[2]: 'let-alnoe' is not in constructions/; did you mean 'let-alone'?",
        "grid.recognition.models[1]: 'minilmm' is not in models; did you mean 'minilm'?",
        "grid.mining.let-alone: 'documentatoin' is not in corpora; did you mean 'documentation'?",
        "build_scenarios: missing; grid.scenarios cannot run without this section",
        "judge_pairs.scheme: 'pll_word_l2r' is not in score_pairs.schemes, which has pll; add it there, or take "
        "another",
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda p: p["build_recognition"]["generated"].update(test_per_label=999),
            "generate_sentences.per_label: 30 is too few, since build_recognition.generated draws 999 sentences",
        ),
        (lambda p: p["grid"]["recognition"].update(models=["minilm", "minilm"]), "'minilm' is listed more than once"),
        (lambda p: p["tune_probes"]["C"].update(low=1000.0), "low (1000.0) must be below high (100.0)"),
        (lambda p: p["grid"]["recognition"].update(models=[]), "grid.recognition.models: must not be empty, since"),
        (lambda p: p["grid"]["recognition"].update(constructions={}), "grid.recognition.constructions: must not be em"),
        (
            lambda p: p["grid"]["prompts"].update(constructions=[]),
            "prompts.constructions: must not be empty, since llms",
        ),
        (lambda p: p["grid"]["prompts"].update(llms=[], models=[]), "grid.prompts.llms and models: must not be empty"),
        (lambda p: p["grid"]["frames"].update(llms=["mock"]), "grid.frames.constructions: must not be empty"),
        (
            lambda p: p["grid"].update(labels=[]),
            "grid.recognition.constructions.comparative-correlative[2]: mined sentences need 'comparative-correlative' "
            "in grid.labels; add it there",
        ),
        (
            lambda p: p["grid"].update(sentences=[]),
            "correlative[0]: generated sentences need 'comparative-correlative'",
        ),
        (
            lambda p: (
                p["grid"].update(sentences=[]),
                p["grid"]["recognition"]["constructions"].update({"comparative-correlative": ["balanced"]}),
            ),
            "correlative[0]: balanced sentences need 'comparative-correlative' in grid.sentences; add it there",
        ),
        (
            lambda p: (
                p["build_recognition"].pop("balanced"),
                p["grid"]["recognition"]["constructions"].update({"comparative-correlative": ["balanced"]}),
            ),
            "build_recognition.balanced: missing; grid.recognition.constructions asks for balanced sentences",
        ),
        (
            lambda p: (
                p["build_recognition"]["balanced"].update(train_per_label=31),
                p["grid"]["recognition"]["constructions"].update({"comparative-correlative": ["balanced"]}),
            ),
            "generate_sentences.per_label: 30 is too few, since build_recognition.balanced draws 31 sentences",
        ),
        (
            lambda p: p["grid"].update(mining={"let-alone": "documentation"}),
            "grid.labels[0]: 'comparative-correlative' is not in grid.mining; add it there",
        ),
        (
            lambda p: p["grid"]["recognition"]["constructions"].update({"comparative-correlative": ["found"]}),
            "grid.recognition.constructions.comparative-correlative[0]: 'found'",
        ),
        (
            lambda p: p["grid"]["recognition"]["constructions"].update({"comparative-correlative": []}),
            "grid.recognition.constructions.comparative-correlative: [] is not allowed",
        ),
        (
            lambda p: p["corpora"]["documentation"].update(glob=None),
            "corpora.documentation.glob: unknown key",
        ),
        (lambda p: p["mine_sentences"]["engine"].update(kind="grid"), "mine_sentences.engine"),
        (lambda p: p["corpora"].update(c4=unpinned()), "names no revision"),
        (
            lambda p: p["models"].update({"bad.slug": p["models"]["minilm"]}),
            "models.bad.slug: 'bad.slug' is not allowed",
        ),
        (lambda p: p.update(models=None), "models: None is not allowed: input should be a valid dictionary"),
        (
            lambda p: p["build_prompts"].update(inference_prompts=["short", "short"]),
            "build_prompts.inference_prompts: 'short' is listed",
        ),
        (
            lambda p: p["build_prompts"].update(chain_of_thought=[True, True]),
            "build_prompts.chain_of_thought: True is listed",
        ),
        (
            lambda p: p["build_prompts"]["continuations"].update(reasoning=["riddle"] * 2),
            "build_prompts.continuations.reasoning: 'riddle' is listed more than",
        ),
        (
            lambda p: p["build_prompts"]["shots"].append(
                p["build_prompts"]["shots"][1] | {"of_the_construction": False}
            ),
            ALIKE,
        ),
        (
            lambda p: p["build_prompts"]["shots"].append(shots("b", "a", "b")),
            "build_prompts.shots[2].sources: 'b' is listed",
        ),
        (
            lambda p: p["build_prompts"].update(shots=[shots("a", "b"), shots("b", "a")]),
            "shots has 1 of ['a', 'b'] more than",
        ),
        (lambda p: p["grid"]["prompts"].update(llms=["mokc"]), "'mokc' is not in llms; did you mean 'mock'?"),
        (lambda p: p["grid"]["pairs"].update(llms=["mokc"]), "grid.pairs.llms[0]: 'mokc' is not in llms; did you mean"),
        (
            lambda p: (p["llms"].update({"mini-clm": p["llms"]["mock"]}), p["grid"]["pairs"].update(llms=["mini-clm"])),
            "grid.pairs.llms[0]: 'mini-clm' is a model in grid.pairs.models too, and tables tell models by their names",
        ),
        (
            lambda p: (p["llms"].update(shorter=p["llms"]["mock"]), p["grid"]["pairs"].update(llms=["shorter"])),
            "grid.pairs.llms[0]: 'shorter' is a model in grid.pairs.models too",
        ),
        (
            lambda p: (p.pop("ask_pairs"), p["grid"]["pairs"].update(llms=["mock"])),
            "ask_pairs: missing; grid.pairs.llms cannot run without this section",
        ),
        (
            lambda p: p["ask_pairs"].update(pairs_per_construction=0),
            "ask_pairs.pairs_per_construction: 0 is not allowed",
        ),
        (
            lambda p: p["grid"].update(benchmarks={"models": [], "llms": ["mock"], "benchmarks": []}),
            "grid.benchmarks.benchmarks: must not be empty, since models or llms is not; name some, or empty both",
        ),
        (
            lambda p: p["grid"].update(benchmarks={"models": ["mini-clm"], "llms": [], "benchmarks": ["blmp"]}),
            "grid.benchmarks.benchmarks[0]: 'blmp' is not in benchmarks; did you mean 'blimp'?",
        ),
        (
            lambda p: p["benchmarks"]["blimp"].update(score="likelihood"),
            "benchmarks.blimp.score: 'likelihood' is not al",
        ),
        (
            lambda p: p["grid"]["pairs"].update(models=["mini-clm"]),
            "series.tiny-clm-training.models.tiny-clm-step-000050: is not in grid.pairs.models; add it there",
        ),
        (
            lambda p: p["judge_pairs"].update(score="pmi", scores=["sum"]),
            "judge_pairs.score: 'pmi' is not in judge_pairs",
        ),
        (
            lambda p: p["judge_answers"].update(scores=["sum"]),
            "judge_answers.score: 'pmi' is not in judge_answers.scores",
        ),
        (
            lambda p: p["lines"].update(prompts=[]),
            "lines.prompts: is [], but grid.prompts is not empty; write [all], or empty that part of the grid",
        ),
        (
            lambda p: p["grid"].update(scenarios={"models": [], "constructions": []}),
            "lines.scenarios: is [all], but grid.scenarios is empty; name models and constructions there, or write []",
        ),
        (
            lambda p: (p["lines"].update(series=["all"]), p.update(series={})),
            "lines.series: is [all], but there are no series; name some in the section series, or write []",
        ),
        (
            lambda p: (p["lines"].update(series=["all"]), p.pop("benchmarks")),
            "benchmarks: missing; lines.series cannot run without this section, which may be {}",
        ),
        (
            lambda p: (
                p["lines"].update(series=["all"]),
                p["grid"]["benchmarks"].update(models=["tiny-clm-step-002511"], benchmarks=["blimp"]),
            ),
            "series.tiny-clm-training.models.tiny-clm-step-000050: is not in grid.benchmarks.models, which has others",
        ),
        (lambda p: p["lines"].update(pairs=["let-alone"]), "lines.pairs[0]: 'let-alone' is not allowed"),
        (lambda p: p["lines"].update(recogniton=["all"]), "lines.recogniton: unknown key; did you mean 'recognition'?"),
        (
            lambda p: p["build_recognition"].pop("mined"),
            "build_recognition.mined: missing; grid.recognition.constructions asks for mined sentences",
        ),
        (
            lambda p: p.pop("precision"),
            "precision: missing; grid.recognition and grid.scenarios and grid.pairs and grid.pr",
        ),
        (lambda p: p.pop("corpora"), "corpora: missing; grid.mining cannot run without this section"),
        (lambda p: p.pop("score_answers"), "score_answers: missing; grid.prompts.models cannot run without"),
        (lambda p: p["grid"].pop("frames"), "grid.frames: missing"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path, change, message):
    assert any(message in fault for fault in faults_of(tmp_path, change))


@pytest.mark.parametrize("asked", [[], ["mini-clm"]])
def test_series_may_be_drawn_where_no_benchmark_has_a_model_of_them(tmp_path, asked):
    def change(params):
        params["lines"].update(series=["all"])
        params["grid"]["benchmarks"].update(models=asked, benchmarks=["blimp"] if asked else [])

    assert load_changed(tmp_path, change).lines.series == ["all"]


def test_a_section_that_nothing_needs_may_be_absent(tmp_path):
    def change(params):
        params["grid"]["prompts"].update(models=[])
        del params["score_answers"], params["write_frames"], params["benchmarks"]
        params["grid"]["recognition"]["constructions"]["comparative-correlative"] = ["generated"]
        del params["build_recognition"]["mined"]

    params = load_changed(tmp_path, change)
    assert params.score_answers is None
    assert params.build_recognition.mined is None
    assert params.build_recognition.generated.train_per_label == 10


def test_sections_with_faults_of_their_own_are_not_told_as_absent(tmp_path):
    assert faults_of(tmp_path, lambda p: p["precision"].update(items=0)) == [
        "precision.items: 0 is not allowed: input should be greater than or equal to 1"
    ]


def test_a_key_that_stands_twice_is_refused(tmp_path):
    (tmp_path / "params.yaml").write_text("seed: 1\nseed: 2\n")
    with pytest.raises(ParamsError, match='found duplicate key "seed"'):
        load_params(tmp_path / "params.yaml")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ParamsError, match=r"nowhere\.yaml: there is no such file"):
        load_params(tmp_path / "nowhere.yaml")
