"""Judged pairs of several models, whichever stage has judged each of them."""

from pathlib import Path

import pandas as pd
import pytest

from cxprobe.files.tables import write_table
from cxprobe.lm.params import ContinuationAlone, Llm, Member, ModelSpec, Rule
from cxprobe.pairs.judged import read_judged_benchmark, read_judged_pairs

SPEC = ModelSpec(name="m", revision=None, sha256=None, dtype="float32")
LLM = Llm(name="mockllm/model", base_url=None, arguments={}, max_tokens=1, connections=1, retries=0, timeout=1)
SCORED, ASKED = Member("scored", SPEC, "scored"), Member("asked", LLM, "asked")
RULE = Member("shorter", Rule(kind="shorter"), "panel")
ALONE = Member("alone", ContinuationAlone(kind="continuation_alone", checkpoint=SPEC), "panel")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(path: str, *ids: str) -> None:
    write_table(pd.DataFrame({"id": ids, "accuracy": 1.0}), Path("data") / path)


def rows(table: pd.DataFrame) -> list[list[str]]:
    return table[["model", "id"]].to_numpy().tolist()


def test_each_model_is_read_from_where_its_own_stage_has_judged_it():
    used = []
    for construction in ("one", "two"):
        write(f"judge_pairs/scored/{construction}/items.parquet", construction)
        write(f"judge_pairs/panel/shorter/{construction}/items.parquet", construction)
        write(f"judge_pair_replies/asked/{construction}/items.parquet", construction)
    write("judge_pairs/panel/alone/two/items.parquet", "two")  # the pairs of the other have no context

    def use(path):
        used.append(path)
        return path

    table = read_judged_pairs(use, [SCORED, RULE, ALONE, ASKED], ["one", "two"], "items")
    assert rows(table) == [
        *([model, "one"] for model in ("scored", "shorter", "asked")),
        *([model, "two"] for model in ("scored", "shorter", "alone", "asked")),
    ]
    assert len(used) == 7


def test_a_benchmark_has_the_folder_of_its_name_below_that_of_the_model():
    write("judge_benchmarks/panel/own/shorter/items.parquet", "a")
    write("judge_benchmark_replies/asked/own/items.parquet", "b")
    assert rows(read_judged_benchmark(lambda path: path, "own", [RULE, ASKED], "items")) == [
        ["shorter", "a"],
        ["asked", "b"],
    ]


def test_a_model_of_which_no_reply_could_be_read_adds_nothing():
    write("judge_pairs/scored/one/items.parquet", "a")
    write("judge_pair_replies/asked/one/items.parquet")
    assert rows(read_judged_pairs(lambda path: path, [SCORED, ASKED], ["one"], "items")) == [["scored", "a"]]
    assert read_judged_pairs(lambda path: path, [ASKED], ["one"], "items").columns.tolist() == [
        "id",
        "accuracy",
        "model",
    ]
