"""The table of all responses."""

import io
from pathlib import Path

import pandas as pd
from exported_project import RULE

from cxprobe import exports
from cxprobe.exports import RESPONSE_COLUMNS, export_responses
from cxprobe.results.schema import RESPONSES, write_responses

pytest_plugins = ["exported_project"]
RESPONSE = {
    **dict.fromkeys(RESPONSES, ""),
    **{"task": "pairs", "model": RULE, "construction": "let-alone", "source": "real", "measure": "accuracy"},
    **{
        "value": 1.0,
        "chance": 0.5,
        "gold": "right",
        "chosen": "right",
        "decides": True,
        "cluster_frame": "f",
        "variant": "A",
    },
}


def test_responses_have_the_columns_of_the_schema_the_weights_of_the_model_and_lists_of_clusters(
    made_params, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    rows = [RESPONSE | {"item": item, "cluster_name": name} for item, name in (("1", "Ann"), ("2", "2"))]
    of_another = RESPONSE | {"model": "that-left", "item": "3", "cluster_name": "Ann"}
    path = Path("data/evaluate_pairs/responses.parquet")
    write_responses(pd.DataFrame([*rows, of_another]), ["variant"], path)
    monkeypatch.setattr(exports, "TASKS", {"pairs": exports.TASKS["pairs"]})
    files, said = export_responses(made_params)
    found = pd.read_csv(io.BytesIO(files[""]), dtype=str)
    assert list(found) == [*RESPONSE_COLUMNS, "variant"]
    assert found["item"].tolist() == ["1", "2"]  # a model that params.yaml does not name is left out
    assert found["weights"].tolist() == ["none", "none"]
    assert found["clusters"].tolist() == ["frame=f; name=Ann", "frame=f"]
    assert said[0] == "2 responses of 1 models; the columns:"
