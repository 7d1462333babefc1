import json
from functools import reduce
from operator import getitem

import pytest
from ruamel.yaml import YAML
from whole_project import BENCHMARK

from conftest import BUNDLED, ROOT, change_params
from cxprobe.errors import ParamsError
from cxprobe.models.params import empty_names
from cxprobe.project.params import Params, load_params, schema_text


def load_changed(folder, change) -> Params:
    change_params(folder, BUNDLED, change)
    return load_params(folder / "params.yaml", ROOT / "constructions")


def faults_of(folder, change) -> list[str]:
    with pytest.raises(ParamsError) as raised:
        load_changed(folder, change)
    return [line.removeprefix(f"{folder}/params.yaml: ") for line in str(raised.value).splitlines()]


def test_a_model_may_be_without_a_name_until_a_line_names_it(tmp_path):
    def add(params):
        models, checkpoints = params["models"], params["models"]["tiny-clm"]["checkpoints"].values()
        models["later"] = models["mini-clm"] | {"name": ""}
        new = {f"new-{number}": one | ({"name": ""} if number else {}) for number, one in enumerate(checkpoints)}
        models["curve"] = models["tiny-clm"] | {"checkpoints": new}

    def name(params):
        add(params)
        params["pairs"]["models"] = {"later": {}, "curve": {}}

    assert empty_names(load_changed(tmp_path, add).models, ["later", "mini-clm"]) == ["models.later.name"]
    assert [fault.partition(" names ")[0] for fault in sorted(faults_of(tmp_path, name))] == [
        *(f"models.curve.checkpoints.new-{n}.name: is empty, and pairs.models.curve" for n in (1, 2)),
        "models.later.name: is empty, and pairs.models.later",
    ]


def test_all_faults_are_told_at_once_each_with_its_place(tmp_path):
    def spoil(params):
        params["scenarios"]["models"] = {"mini-mlm": {}, "mini-mlmm": {}}
        params["prompts"]["constructions"].append("let-alnoe")
        params["mining"]["constructions"]["let-alone"] = "documentatoin"
        params["recognition"]["probe"]["c"] = params["recognition"]["probe"].pop("C")
        params["pairs"]["evaluate"]["scheme"] = "pll_word_l2r"

    assert sorted(fault.partition(" (allowed")[0] for fault in faults_of(tmp_path, spoil)) == [
        "mining.constructions.let-alone: 'documentatoin' is not in corpora; did you mean 'documentation'?",
        "pairs.evaluate.scheme: pairs.score.schemes does not have pll_word_l2r; take out here what is not to run, or "
        "add it there",
        "prompts.constructions[3]: 'let-alnoe' is not in constructions/; did you mean 'let-alone'?",
        "recognition.probe.C: missing; nothing is assumed in its place, so give it a value",
        "recognition.probe.c: unknown key",
        "scenarios.models.mini-mlmm: 'mini-mlmm' is not in models; did you mean 'mini-mlm'?",
    ]


PARAMS = YAML(typ="safe").load(BUNDLED)
INTERVENTIONS = PARAMS["interventions"] | {"models": {"mini-clm": {}}, "constructions": ["ditransitive"]}
INTERVENTIONS |= {"make": INTERVENTIONS["make"] | {"learn": ["let-alone"]}}
MINILM, MOCK = PARAMS["models"]["minilm"], PARAMS["llms"]["mock"]
SHOTS = {"number": 1, "of_the_construction": True}
TWICE = [SHOTS | {"sources": sources} for sources in (["templatic", "challenge"], ["challenge", "templatic"])]


def put(values: dict[str, object]):
    """Return a change that puts values at places such as "pairs/make"."""

    def change(params):
        for place, value in values.items():
            *keys, last = place.split("/")
            reduce(getitem, keys, params)[last] = value

    return change


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"recognition/models": {}}, "recognition.models: must not be empty, since constructions is"),
        ({"prompts/llms": {}, "prompts/models": {}}, "prompts.models and llms: must not be empty"),
        ({"mining/constructions": {}}, "recognition.constructions (mined): mining.constructions does not have causati"),
        ({"recognition/probe/controls/folds": None}, "control_task: true needs folds"),
        ({"models/bad.slug": MINILM}, "models.bad.slug: 'bad.slug' is not allowed"),
        ({"models/shorter": MINILM}, "the name is taken by models.shorter"),
        ({"pairs/models": {"baselines-scenarios": {}}}, "copier cannot be asked here; pairs asks unigrams"),
        ({"prompts/make/shots": TWICE}, "shots: 1 of ['challenge', 'templatic']"),
        ({"llms/mini-clm": MOCK, "pairs/llms": {"mini-clm": {}}}, "'mini-clm' is a model in pairs.models too"),
        ({"pairs/llms": {"mock": {}}, "pairs/ask": None}, "pairs.ask: is null, and pairs.llms names models"),
        ({"seed": 2**32}, "seed: 4294967296 is not allowed"),
        ({"interventions": INTERVENTIONS}, "learn: interventions.constructions does not have let-alone"),
        ({"pairs/benchmarks": {"x": BENCHMARK | {"files": "../../y.tsv"}}}, "'../../y.tsv' leaves the benchmark's"),
        ({"pairs/benchmarks": {"form": BENCHMARK}}, "pairs.benchmarks.form: results call something else so"),
        ({"report/under_methods": ["mini-clmm"]}, "report.under_methods[0]: 'mini-clmm' is not in models or llms"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path, values, message):
    faults = faults_of(tmp_path, put(values))
    assert any(message in fault for fault in faults), faults


def test_the_schema_that_is_kept_is_up_to_date_and_describes_every_key():
    assert (ROOT / "params.schema.json").read_text() == schema_text()
    schema = json.loads(schema_text())
    assert [
        f"{name}.{key}"
        for name, model in {"Params": schema, **schema["$defs"]}.items()
        for key, value in model.get("properties", {}).items()
        if "description" not in value and "description" not in model and "$ref" not in value
    ] == []
