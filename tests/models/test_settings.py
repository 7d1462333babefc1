import pytest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.errors import DataError, ParamsError
from cxprobe_pretraining import load_pretraining_params, read_words

PARAMS = ROOT / "models" / "params.yaml"


def changed(folder, edit):
    yaml = YAML(typ="safe")
    content = yaml.load(PARAMS)
    edit(content)
    with (folder / "params.yaml").open("w") as file:
        yaml.dump(content, file)
    return folder / "params.yaml"


def test_the_projects_own_parameters_are_right():
    assert set(load_pretraining_params(PARAMS).pretrain) == {
        "mini-mlm-first",
        "mini-mlm-second",
        "mini-mlm",
        "mini-clm",
        "tiny-clm",
    }


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda p: p["pretrain"]["mini-mlm"].update(stepz=3), "pretrain.mini-mlm.stepz: unknown key"),
        (lambda p: p["pretrain"]["mini-mlm"].pop("steps"), "pretrain.mini-mlm.steps: missing"),
        (lambda p: p["pretrain"]["mini-mlm"].update(masked_first=1.2), "pretrain.mini-mlm.masked_first: 1.2"),
        (lambda p: p["pretrain"]["tiny-clm"].update(checkpoints=[50, 9999]), "must ascend and stay below steps"),
        (lambda p: p["pretrain"]["tiny-clm"].update(checkpoints=[50, 20]), "must ascend and stay below steps"),
        (lambda p: p["pretrain"]["tiny-clm"].update(objective="masked"), "starts from trained weights"),
        (lambda p: p["build_corpus"].update(source={"kind": "net"}), "build_corpus.source"),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path, edit, message):
    with pytest.raises(ParamsError, match=message):
        load_pretraining_params(changed(tmp_path, edit))


def test_a_model_that_is_not_there_is_suggested():
    with pytest.raises(ParamsError, match=r"no pretrain\.mini-mml; did you mean 'mini-mlm'"):
        load_pretraining_params(PARAMS).of_model("mini-mml")


def test_the_projects_words_are_enough_for_scenarios():
    words = read_words(ROOT / "models" / "words.yaml")
    assert len({word for pair in words.comparatives for word in pair}) >= 40
    assert len(set(words.names)) >= 60


def test_a_word_that_is_none_is_refused(tmp_path):
    (tmp_path / "words.yaml").write_text("{comparatives: [], names: [], others: [two words]}")
    with pytest.raises(DataError, match=r"others\[0\]: 'two words' is not allowed"):
        read_words(tmp_path / "words.yaml")
