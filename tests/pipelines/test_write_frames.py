"""Frames from a model: what is asked, what is kept, and that every reject is there with its reason."""

import importlib.util
import json
import re

import pytest
from ruamel.yaml import YAML

from conftest import PEOPLE, ROOT, change_params, run, write_toy_construction
from cxprobe.constructions.people import load_people
from cxprobe.errors import ConstructionError
from cxprobe.files.tables import read_table
from cxprobe.lm.params import Llm
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.make import render_pairs
from cxprobe.run.params import load_params
from cxprobe.run.stage import Outcome, Stage

pytest.importorskip("inspect_ai")

# What the first request is told, in four lines that nobody can read as a frame, three that cannot be one, and the rest.
WRITTEN = """\
Sure, here are some frames:
{"verb": "knitted", "gift": "a scarf"}
{"verb": "bought", "gift": "an cake"}
{"verb": "baked", "gift": "a cake"}
{"verb": "slept"}
{"verb": "ate", "gift": "a plum"}
{"verb": "threw", "gift": "a party"}
{"verb": "sold", "gift": "a car"}
{"verb": "lent", "gift": "a pen"}
{"verb": "mumbled", "gift": "a word"}
{"verb": "handed", "gift": "a"""
AGAIN = '[{"gift": "a scarf", "verb": "knitted"}, {"verb": "sewed", "gift": "a coat"}]'
INSTANCES = {"ate": "Unacceptable.", "threw": "extended", "mumbled": "It is hard to tell what this one is."}
DIAGNOSTICS = {("sold", "got"): "inappropriate", ("lent", "gave her"): "**Inappropriate**"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project's folder with the toy construction, to work in."""
    write_toy_construction(tmp_path / "constructions")
    (tmp_path / "lexicon").mkdir()
    (tmp_path / "lexicon" / "people.yaml").write_text(PEOPLE)
    (tmp_path / "prompts").symlink_to(ROOT / "prompts")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(text: str) -> str:
    """Reply to a question as a model might."""
    if "fillings" in text:
        first = answer.requests == 0
        answer.requests += 1
        return WRITTEN if first else AGAIN
    sentence = text.partition("Sentence: ")[2].partition("\n")[0]
    verb = sentence.split()[1]
    if "Statement: " not in text:
        return INSTANCES.get(verb, "Prototypical")
    statement = text.partition("Statement: ")[2].partition("\n")[0]
    return next(
        (reply for (one, part), reply in DIAGNOSTICS.items() if one == verb and part in statement), "appropriate"
    )


def write(monkeypatch, reply=answer, **changes) -> Outcome:
    """Run the stage's work in the current folder, with inspect's mock model, which answers what ``reply`` says."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def say(messages, *_):
        output = ModelOutput.from_content("mockllm/model", reply(messages[-1].text))
        output.usage = ModelUsage()
        return output

    spec = importlib.util.spec_from_file_location("write_frames", ROOT / "pipelines" / "make" / "write_frames.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "open_llm", lambda _: get_model("mockllm/model", memoize=False, custom_outputs=say))
    answer.requests = 0
    params = load_params(ROOT / "params.yaml", ROOT / "constructions")
    settings = params.write_frames.model_copy(update={"requests": 2, "examples": 2} | changes)
    llm = Llm(name="mockllm/model", base_url=None, arguments={}, max_tokens=900, connections=1, retries=0, timeout=60)
    params = params.model_copy(update={"llms": {"mock": llm}, "write_frames": settings})
    return script.write_frames(Stage("write_frames", {"llm": "mock", "construction": "toy"}, params))


def rejected(outcome: Outcome) -> dict[str, float]:
    """Return how many were rejected for each reason."""
    return {
        name.removeprefix("rejected_"): number
        for name, number in outcome.counts.items()
        if name.startswith("rejected_")
    }


def test_what_passes_both_filters_is_kept_and_every_reject_has_its_reason(folder, monkeypatch):
    outcome = write(monkeypatch)
    found = outcome.tables["proposals"].set_index("proposal")
    assert list(found["reason"]) == [
        "kept", "faulty", "repeated", "slots", "unacceptable", "extended", "inappropriate", "inappropriate", "unparsed",
        "unreadable", "repeated", "kept",
    ]  # fmt: skip
    assert found["detail"]['{"verb": "threw", "gift": "a party"}'] == "extended"
    assert found["detail"]['{"verb": "mumbled", "gift": "a word"}'] == "It is hard to tell what this one is."
    counts = outcome.tables["reasons"].set_index("reason")["proposals"].to_dict()
    assert sum(counts.values()) == outcome.counts["proposals"] == 12
    assert counts.pop("kept") == outcome.counts["kept"] == 2
    assert counts == rejected(outcome)
    # Two for writing; one about each of seven sentences; two about each of the four that are left.
    assert outcome.counts["requests"] == 2 + 7 + 2 * 4
    assert outcome.counts["requests_failed"] == 0


def test_what_is_kept_can_be_proof_read_and_moved_into_the_pairs(folder, monkeypatch):
    write(monkeypatch)
    text = (folder / "data/write_frames/mock/toy/frames.yaml").read_text()
    assert text.startswith(
        "# 2 of 12 frames that mock wrote for toy, after both filters. No person\n# has read them yet"
    )
    assert (
        "  # Ann sewed Eve a coat. She got a coat because Ann gave it to Eve.\n  - {verb: sewed, gift: a coat}" in text
    )
    path = folder / "constructions" / "toy" / "pairs.yaml"
    moved = text.partition("frames:\n")[2]
    path.write_text(path.read_text().replace("fillers: {}\n", f"{moved}fillers: {{}}\n"))
    people = load_people(folder / "lexicon" / "people.yaml")
    content = load_pairs("toy", people, folder / "constructions")
    assert len(content.frames) == 5
    assert any("sewed" in pair.context for pair in render_pairs("toy", content, people, 12, seed=0).pairs)


def test_all_that_was_asked_and_said_is_there(folder, monkeypatch):
    write(monkeypatch)
    replies = read_table(folder / "data/write_frames/mock/toy/replies.parquet").set_index("id")
    assert replies["reply"]["write/0"] == WRITTEN
    first, second = (replies["question"][f"write/{number}"] for number in range(2))
    assert first != second  # other examples, so that the replies can differ
    for asked in (first, second):
        assert "{N1} {verb} {N2} {gift}. The one who gave {them} something is {N1}." in asked
        assert "verb: what one does to the other\ngift: what the other gets" in asked
        examples = [json.loads(line) for line in re.findall(r"^\{\".*\}$", asked, re.MULTILINE)]
        assert len(examples) == 2
        assert all(
            example in YAML(typ="safe").load(folder / "constructions/toy/pairs.yaml")["frames"] for example in examples
        )
    assert "Sentence: Ann knitted Eve a scarf." in replies["question"]["instance/0/0"]
    assert "Statement: The one who gave her something is Ann." in replies["question"]["diagnostic/0/0"]
    assert "Statement: She got a scarf because Ann gave it to Eve." in replies["question"]["diagnostic/0/1"]


def test_an_extended_instance_is_kept_where_it_is_accepted(folder, monkeypatch):
    outcome = write(monkeypatch, accepted=["prototypical", "extended"])
    reasons = outcome.tables["proposals"].set_index("proposal")["reason"]
    assert reasons['{"verb": "threw", "gift": "a party"}'] == "kept"
    assert reasons['{"verb": "ate", "gift": "a plum"}'] == "unacceptable"


def test_a_request_that_failed_is_neither_a_verdict_nor_a_frame(folder, monkeypatch):
    def fail(text: str) -> str:
        if "knitted" in text and "fillings" not in text:
            raise RuntimeError("the server is down")
        return answer(text)

    outcome = write(monkeypatch, fail)
    proposals = outcome.tables["proposals"]
    assert proposals["reason"][0] == "failed"
    assert "the server is down" in proposals["detail"][0]
    assert outcome.counts["requests_failed"] == 1
    assert outcome.counts["kept"] == 1


def test_a_model_that_writes_nothing_leaves_an_empty_file_and_nothing_to_ask(folder, monkeypatch):
    outcome = write(monkeypatch, lambda _: "I would rather not.")
    assert outcome.counts == {"requests": 2, "requests_failed": 0, "proposals": 0, "kept": 0}
    assert YAML(typ="safe").load(folder / "data/write_frames/mock/toy/frames.yaml") == {"frames": []}


@pytest.mark.parametrize(
    ("old", "new"), [("tests: meaning", "tests: form"), ('context: "{N1} {verb} {N2} {gift}."', "context: null")]
)
def test_pairs_without_a_meaning_or_a_sentence_are_refused_before_any_request(folder, monkeypatch, old, new):
    path = folder / "constructions" / "toy" / "pairs.yaml"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ConstructionError, match="toy: the filters ask about a sentence and what it means"):
        write(monkeypatch, lambda _: pytest.fail("something was asked"))


@pytest.mark.pipeline
def test_the_stage_is_off_by_default_and_runs_for_what_the_grid_names(project):
    assert not (project / "results/write_frames").exists()

    def switch_on(params: dict) -> None:
        params["grid"]["frames"] = {"llms": ["mock"], "constructions": ["toy"]}
        params["write_frames"]["requests"] = 1
        params["llms"]["mock"]["arguments"] = {"reply": '{"verb": "sewed", "gift": "a coat"}\n\nprototypical'}

    change_params(project, project / "params.yaml", switch_on)
    run(project, "dvc", "repro", "write_frames")
    results = project / "results/write_frames/mock/toy"
    assert read_table(results / "counts.csv").set_index("count")["value"].to_dict() == {
        "requests": 4, "requests_failed": 0, "proposals": 1, "kept": 0, "rejected_unparsed": 1
    }  # fmt: skip
    assert read_table(results / "reasons.csv").to_dict("records") == [{"reason": "unparsed", "proposals": 1}]
