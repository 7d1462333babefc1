"""`cxprobe check --pattern`: a pattern beside what others annotated."""

import pytest
from command_line import call

from conftest import ROOT, change_params, shrink, write_toy_construction


@pytest.fixture(autouse=True)
def treebank(tmp_path, monkeypatch, toy_tagger):
    """Four sentences, two of them with the toy construction; the pattern finds one of these, and another."""
    texts = {
        "Now the red cat runs, the old dog sings.": "Cxn=Toy",
        "The calm boys sleep, she says.": "Cxn=Toy",
        "The tall man reads, the old man sleeps.": "_",
        "Nothing was said.": "_",
    }
    lines = []
    for number, (text, misc) in enumerate(texts.items(), start=1):
        lines += [f"# sent_id = s{number}", f"# text = {text}"]
        lines += [
            "\t".join([str(place), word, *"_____", "_", "_", misc if place == 1 else "_"])
            for place, word in enumerate(text.split(), 1)
        ]
        lines.append("")
    (tmp_path / "toy.conllu").write_text("\n".join(lines))

    def change(params):
        shrink(params)
        params["mining"]["tagger"] = str(toy_tagger)

    write_toy_construction(tmp_path / "constructions")
    change_params(tmp_path, ROOT / "params.yaml", change)
    monkeypatch.chdir(tmp_path)


def test_a_pattern_has_its_precision_and_recall_on_a_treebank_with_n_and_interval():
    code, output = call("check", "--pattern", "toy", "--treebank", "toy.conllu", "--cxn", "Toy")
    assert code == 0, output
    lines = output.splitlines()
    assert [line.partition(" [")[0] for line in lines[:2]] == ["precision: 50.0%", "recall: 50.0%"]
    assert all(line.endswith("n = 2 of 4 sentences") for line in lines[:2])
    assert lines[2:] == [
        "1 found and not annotated:",
        "  The tall man reads, the old man sleeps. (s3)",
        "1 not found because of pre-filter:",
        "  The calm boys sleep, she says. (s2)",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--treebank", "toy.conllu", "--cxn", "Other"], "no sentence has the construction Other; the files have Toy"),
        (["--treebank", "toy.conllu", "--cxn", "Toy", "--gold"], "the sentence s1 has no "),
        (["--treebank", "none.conllu", "--cxn", "Toy"], "none.conllu: there is no such file"),
        (["--cxn", "Toy"], "--pattern, --treebank and --cxn go together"),
    ],
)
def test_what_a_pattern_cannot_be_compared_with_is_refused(words, message):
    code, output = call("check", "--pattern", "toy", *words)
    assert code == 2
    assert message in output
