"""Files of answers in the place of models: what they give to evaluation, and what is refused with its row."""

import hashlib

import pandas as pd
import pytest

from cxprobe.errors import CxprobeError
from cxprobe.models.files import answers_in
from cxprobe.models.params import AnswersFile, Member

PAIRS = pd.DataFrame({"id": ["a", "b"], "context": ["", "Here"], "good": ["She sleeps.", " they wait."]}).assign(
    bad=["She sleep.", " they waits."]
)
TEXTS = "text\tscore\nShe sleeps.\t-9\nShe sleep.\t-12.5\nHere they wait.\t-8\nHere they waits.\t-7\n"
SCORES = "id\tgood_score\tbad_score\nb\t-8\t-7\na\t-9\t-12.5\n"
CHOICES = "id\tannotator\tchosen\na\tAnn\tgood\nb\tAnn\tgood\nb\tBen\tbad\na\tBen\tgood\n"
REPLIES = "id\treply\nb\tAnswer: 1\na\t\n"


def a_file(tmp_path, kind: str, content: str, **more: str) -> Member:
    """Return a model that is a file with this content."""
    path = tmp_path / "answers.tsv"
    path.write_text(content)
    spec = {"kind": kind, "answers": str(path), "sha256": None, "about": "by hand"}
    return Member("theirs", AnswersFile.model_validate(spec | more), "theirs")


@pytest.mark.parametrize(
    ("kind", "content", "margins"),
    [("scores", TEXTS, [3.5, -1]), ("scores", SCORES, [3.5, -1]), ("judgements", CHOICES, [0.5, 0])],
)
def test_scores_and_choices_are_preferences_in_the_order_of_the_pairs(tmp_path, kind, content, margins):
    answers, _ = answers_in(a_file(tmp_path, kind, content), PAIRS)
    assert answers["id"].tolist() == ["a", "b"]
    assert answers["margin"].tolist() == margins


def test_an_empty_reply_has_failed(tmp_path):
    answers, _ = answers_in(a_file(tmp_path, "replies", REPLIES), PAIRS[["id"]])
    assert answers.to_dict("records") == [
        {"id": "b", "reply": "Answer: 1", "failed": False},
        {"id": "a", "reply": "", "failed": True},
    ]


def test_the_facts_say_which_file_it_was_and_another_file_is_refused(tmp_path):
    digest = hashlib.sha256(SCORES.encode()).hexdigest()
    member = a_file(tmp_path, "scores", SCORES, sha256=digest)
    _, facts = answers_in(member, PAIRS)
    assert (facts.kind, facts.weights, facts.state) == ("file", f"sha256 {digest}", "trained")
    assert (member.label, member.is_baseline, member.is_asked) == ("theirs (file)", False, False)
    with pytest.raises(CxprobeError, match=r"models\.theirs: sha256 is"):
        answers_in(a_file(tmp_path, "scores", SCORES + "c\t-1\t-2\n", sha256=digest), PAIRS)


@pytest.mark.parametrize(
    ("kind", "content", "faults"),
    [
        ("scores", TEXTS.replace("-12.5", "low"), ["score is 'low'; it must be a finite number"]),
        (
            "scores",
            SCORES.replace("b\t", "c\t") + "a\t-1\t-2\n",
            ["row 3: id 'a' is answered twice", "row 1: id 'c' is not among the items", "row 2: id 'b' has no answer"],
        ),
        ("scores", "id\tgood\n", ["there is no text in this tsv file"]),
        ("scores", "id\tgood\na\t1\nb\t1\n", ["there is no column 'good_score'"]),
        ("judgements", CHOICES.replace("bad", "Bad"), ["row 3: chosen is 'Bad'; did you mean 'bad'?"]),
        ("judgements", CHOICES.replace("b\tBen\tbad\n", ""), ["row 2: id 'b' has no answer of Ben"]),
        ("replies", CHOICES, ["there is no column 'reply'"]),
        ("replies", REPLIES + "a\t1\n", ["row 3: id 'a' is answered twice"]),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_its_rows(tmp_path, kind, content, faults):
    with pytest.raises(CxprobeError) as fault:
        answers_in(a_file(tmp_path, kind, content), PAIRS)
    for said in faults:
        assert said in str(fault.value)
    assert "answers.tsv" in str(fault.value)
