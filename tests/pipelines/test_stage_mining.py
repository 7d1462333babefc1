"""The stage that mines, as DVC runs it."""

import json
import runpy
import shutil
from pathlib import Path

import pandas as pd
import pytest
from small_corpora import CC, corpus_of, settings_of

from conftest import ROOT, change_params, run
from cxprobe.cli.init import create_project
from cxprobe.corpora.pattern import load_wanted
from cxprobe.run.params import read_params
from cxprobe.run.stage import Stage

pytestmark = pytest.mark.pipeline


def test_a_project_of_a_preset_that_mines_nothing_can_mine(tmp_path):
    folder = tmp_path / "project"
    create_project(folder, "pairs")
    texts = ["She cannot walk, let alone run.", "They would not eat it, let alone pay for it.", "Nothing else is here."]
    (folder / "texts").mkdir()
    lines = [json.dumps({"text": text, "url": f"own/{number}"}) for number, text in enumerate(texts)]
    (folder / "texts" / "own.jsonl").write_text("\n".join(lines))
    (folder / "texts" / "notes.txt").write_text("This is no JSON, and not read.")

    def mine(params):
        corpus = {"folder": "texts", "glob": None, "format": "jsonl", "text": "text", "url": "url"}
        params["corpora"] |= {"own": corpus, "unused": corpus | {"folder": "not-here"}}
        params["mining"] |= {"constructions": {"let-alone": "own"}, "watched": ["own", "unused"]}

    change_params(folder, folder / "params.yaml", mine)
    source = {"PYTHONPATH": str(ROOT / "src")}
    run(folder, "dvc", "repro", "mine_sentences", **source)
    mined = pd.read_parquet(folder / "data" / "mine_sentences" / "own" / "let-alone" / "sentences.parquet")
    assert mined["url"].tolist() == ["own/0", "own/1"]


def test_a_construction_that_moves_to_another_corpus_is_mined_there_and_nothing_else_is(project, monkeypatch, capsys):
    shutil.copytree(project / "constructions/toy", project / "constructions/other")
    shutil.copytree(project / "corpus", project / "second")
    monkeypatch.chdir(project)
    script = runpy.run_path("pipelines/mine_sentences.py")

    def mine_in(**corpora):
        def change(params):
            params["corpora"]["more"] = params["corpora"]["toys"] | {"folder": "second"}
            params["mining"] |= {"constructions": corpora, "watched": ["toys", "more"]}

        change_params(project, project / "params.yaml", change)
        params, mined = read_params(script["CorporaParams"]), []
        for corpus in ("toys", "more"):
            script["mine_sentences"](Stage("mine_sentences", corpus, params))
            mined.append({*json.loads(Path(f"data/mine_sentences/{corpus}/mined.json").read_text())["keys"]})
        assert "corpora.toys: 2 faults beside " in capsys.readouterr().err
        return mined

    assert mine_in(toy="toys", other="toys") == [{"toy", "other"}, set()]
    stays = Path("data/mine_sentences/toys/toy/stays")
    stays.write_text("mining would remove this file")
    assert mine_in(toy="toys", other="more") == [{"toy"}, {"other"}]
    assert stays.exists()
    assert not Path("data/mine_sentences/toys/other").exists()


def test_what_was_mined_is_kept_until_something_changes_that_it_follows_from(toy_tagger):
    key = runpy.run_path(str(ROOT / "pipelines" / "mine_sentences.py"))["_key"]
    settings, tagger, wanted = settings_of(toy_tagger), str(toy_tagger), load_wanted(CC, ROOT / "constructions")
    known = key(wanted, settings, corpus_of("x"), "a", {tagger: "1"})
    assert key(wanted, settings_of(toy_tagger, workers=2), corpus_of("x"), "a", {tagger: "1"}) == known
    changed = [
        key(load_wanted("let-alone", ROOT / "constructions"), settings, corpus_of("x"), "a", {tagger: "1"}),
        key(wanted, settings.model_copy(update={"most_words": 7}), corpus_of("x"), "a", {tagger: "1"}),
        key(wanted, settings, corpus_of("y"), "a", {tagger: "1"}),
        key(wanted, settings, corpus_of("x"), "b", {tagger: "1"}),
        key(wanted, settings, corpus_of("x"), "a", {tagger: "2"}),
    ]
    assert known not in changed
