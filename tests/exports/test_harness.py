"""Tasks for lm-evaluation-harness: it runs them as they are, and gets the accuracies of this project's own scoring.

The harness sums in float32 and this project in float64, so the sums of a text differ by some 1e-4 nats. An item whose
two best texts are nearer to each other than `NEAR` could be decided in another way; the sample has none.
"""

from pathlib import Path

import pandas as pd
import pytest
from exported_project import FORM, PAIRS, UNBALANCED
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from tiny_lms import save_lm, tokenizer_of

from cxprobe.exports import export_harness, pair_tasks
from cxprobe.files.writing import write_bytes
from cxprobe.models.loading import open_source
from cxprobe.models.pairs import load_language_model, score_texts, texts_of_pairs
from cxprobe.models.params import ModelSpec
from cxprobe.models.scores import score_pairs
from cxprobe.models.texts import ScoringConfig, distinct_texts, pairs_of, token_table
from cxprobe.tasks.pairs.sources import with_one_answer

pytestmark = pytest.mark.pipeline

pytest_plugins = ["exported_project"]

NEAR = 1e-3  # nats: a smaller margin could be decided in another way by the harness's float32


@pytest.fixture(scope="module")
def pairs(made_project):
    folder, _ = made_project
    tables = [pd.read_parquet(folder / "data" / "make_pairs" / f"{name}.parquet") for name in PAIRS]
    return with_one_answer(pd.concat(tables, ignore_index=True))


@pytest.fixture(scope="module")
def tasks(pairs):
    return [*pair_tasks(pairs)]


@pytest.fixture
def folder(made_params, tmp_path):
    for name, content in export_harness(made_params)[0].items():
        write_bytes(content, tmp_path / "tasks" / name)
    return tmp_path / "tasks"


def test_every_item_is_in_one_task_and_its_label_is_the_place_of_the_right_text_which_changes(tasks, pairs):
    good = {row.id: row.context + row.good for row in pairs.itertuples()}
    items = [item for task in tasks for item in task.items]
    assert sorted(item["id"] for item in items) == sorted(good)
    assert all(len(set(item["choices"])) == len(item["choices"]) for item in items)
    assert all(item["choices"][item["label"]] == good[item["id"]] for item in items)
    assert 0.3 < sum(item["label"] for item in items) / len(items) < 0.7


def test_pairs_in_which_one_answer_is_always_right_are_tasks_of_their_own(tasks):
    named = {task.name: task for task in tasks}
    alone = [task for task in tasks if task.items[0]["construction"] == UNBALANCED]
    assert len(alone) == 4
    assert all("a preference for a word is enough" in task.description for task in alone)
    assert all(len({item["variant"] for item in task.items}) == 1 for task in alone)
    assert "preference" not in named[f"cxprobe_{FORM.replace('-', '_')}_pairs"].description


def run(folder: Path, model: Path, tasks) -> pd.DataFrame:
    """Run tasks as the harness's own users do; return a row an item: task, id, acc and margin."""
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    how = {"model_args": {"pretrained": str(model), "dtype": "float32"}, "device": "cpu", "batch_size": 16}
    how |= {"bootstrap_iters": 0, "verbosity": "ERROR"}
    found = simple_evaluate(model="hf", tasks=tasks, task_manager=manager, **how)
    rows = []
    for name, samples in found["samples"].items():
        rows += [(name, one["doc"]["id"], one["acc"], margin_of(one)) for one in samples]
        own = [row[2] for row in rows if row[0] == name]
        assert found["results"][name]["acc,none"] == pytest.approx(sum(own) / len(own))
    return pd.DataFrame(rows, columns=["task", "id", "acc", "margin"])


def margin_of(sample) -> float:
    """Return by how much the right text is ahead of the best other."""
    sums = [float(reply[0]) for reply in sample["filtered_resps"]]
    right = sums.pop(sample["doc"]["label"])
    return right - max(sums)


def own_decisions(model: Path, pairs: pd.DataFrame) -> pd.DataFrame:
    """Score the same pairs by this project: a row a pair, id, credit and margin, by the score sum."""
    spec = ModelSpec(name=str(model), revision=None, sha256=None, dtype="float32", bos="add")
    loaded = load_language_model(open_source("own", spec))
    portions = distinct_texts([texts_of_pairs(loaded, pairs_of(pairs))])
    scores = score_texts(loaded, portions, ScoringConfig(["pll"], 1024))
    sums = score_pairs(pairs, token_table(scores), ["sum"])
    credits = (sums["margin"] > 0) + 0.5 * (sums["margin"] == 0)
    return pd.DataFrame({"id": sums["id"], "credit": credits, "margin": sums["margin"]})


def test_the_harness_gets_the_accuracies_of_this_project_with_bos_add(folder, pairs, tmp_path):
    tokenizer = tokenizer_of("gpt2")
    tokenizer.model_max_length = 512
    save_lm(tmp_path / "gpt2", "gpt2", tokenizer, positions=512)
    harness = run(folder, tmp_path / "gpt2", ["cxprobe"]).set_index("id")
    asked = pairs[[row.context != "" or row.good[0] == row.bad[0] for row in pairs.itertuples()]]
    added = own_decisions(tmp_path / "gpt2", asked).set_index("id")
    harness, near = harness.loc[added.index], added["margin"].abs() < NEAR
    assert (harness["margin"] - added["margin"]).abs().max() < NEAR
    assert harness["acc"][~near].tolist() == added["credit"][~near].tolist()
