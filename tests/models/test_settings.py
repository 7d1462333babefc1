import pytest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.errors import ParamsError
from pretraining.settings import load_pretraining_params

PARAMS = ROOT / "models" / "params.yaml"


def changed(folder, edit):
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.sort_base_mapping_type_on_output = False, False  # in the order of training
    content = yaml.load(PARAMS)
    edit(content)
    with (folder / "params.yaml").open("w") as file:
        yaml.dump(content, file)
    return folder / "params.yaml"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda p: p["models"]["mini-mlm"].update(stepz=3), "models.mini-mlm.stepz: unknown key"),
        (lambda p: p["models"]["mini-mlm"].pop("steps"), "models.mini-mlm.steps: missing"),
        (lambda p: p["models"]["mini-mlm"].update(masked_first=1.2), "models.mini-mlm.masked_first: 1.2"),
        (lambda p: p["models"]["tiny-clm"].update(checkpoints=[50, 9999]), "must ascend and stay below steps"),
        (lambda p: p["models"]["tiny-clm"].update(checkpoints=[50, 20]), "must ascend and stay below steps"),
        (lambda p: p["models"]["tiny-clm"].update(objective="masked"), "starts from trained weights"),
        (lambda p: p["models"]["tiny-clm"].update(start="mini-mml"), "models.tiny-clm.start: 'mini-mml' is not made"),
        (lambda p: p["corpus"].update(held_out=[]), "corpus.held_out"),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path, edit, message):
    with pytest.raises(ParamsError, match=message):
        load_pretraining_params(changed(tmp_path, edit))
