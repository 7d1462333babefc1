"""`cxprobe validate`: forms are written, thirty people who are made up answer them, and are counted."""

import csv
import random
from collections import Counter

import pytest
from typer.testing import CliRunner

from conftest import PEOPLE, ROOT, change_params, shrink, write_toy_construction
from cxprobe.cli import app
from cxprobe.people.agreement import human_agreement, load_ratings
from cxprobe.people.answers import read_items
from cxprobe.people.ratings import read_ratings

FRAMES = [("baked", "a cake"), ("poured", "an egg"), ("sang", "a song"), ("threw", "a ball"), ("knitted", "a scarf")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project's folder with what `cxprobe validate` reads, and two constructions."""
    write_toy_construction(tmp_path / "constructions")
    write_toy_construction(tmp_path / "others")
    (tmp_path / "others" / "toy").rename(tmp_path / "constructions" / "other")
    pairs = tmp_path / "constructions" / "other" / "pairs.yaml"
    head, _ = pairs.read_text().split("frames:")
    rows = "".join(f"  - {{verb: {verb}, gift: {gift}}}\n" for verb, gift in FRAMES)
    pairs.write_text(f"{head}frames:\n{rows}fillers: {{}}\n")
    for name, file in (("lexicon", "people.yaml"), ("prompts", "validation.yaml")):
        (tmp_path / name).mkdir()
        if name == "prompts":
            (tmp_path / name / file).write_text((ROOT / name / file).read_text())
    (tmp_path / "lexicon" / "people.yaml").write_text(PEOPLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def validate(*words):
    done = CliRunner().invoke(app, ["validate", *map(str, words)])
    return done.exit_code, done.output


def test_the_same_seed_writes_the_same_files_and_nothing_is_mixed(folder):
    for name in ("one", "two"):
        code, output = validate("export", "--output", name, "--items", 12, "--per-rater", 6, "--seed", 3)
        assert code == 0, output
    names = sorted(path.name for path in (folder / "one").iterdir())
    assert names == sorted(["items.csv", *(f"form-0{n}.{kind}" for n in range(1, 7) for kind in ("csv", "html"))])
    for name in names:
        assert (folder / "one" / name).read_bytes() == (folder / "two" / name).read_bytes()
    code, output = validate("export", "--output", "one", "--items", 12)
    assert code == 2
    assert "one: is there already; name a folder" in output


@pytest.mark.parametrize("kind", ["pairs", "inference", "reasoning"])
def test_items_of_all_kinds_are_asked_with_what_is_right(folder, kind):
    code, output = validate("export", "--output", "out", "--items", 6, "--kind", kind, "--raters-per-item", 2)
    assert code == 0, output
    items = read_items(folder / "out" / "items.csv")
    asked = items[items["kind"] != "check"]
    assert set(asked["kind"]) == {kind}
    assert Counter(Counter(asked["item"]).values()) == {2: 6}
    assert set(asked["construction"]) == {"toy", "other"}
    golds = {(row.item, row.answers.split(" ")["ABC".index(row.gold)]) for row in asked.itertuples()}
    assert len(golds) == 6  # one right answer an item, on whatever side it is shown
    options = {"pairs": 2, "inference": 3, "reasoning": 3}[kind]
    assert set(asked["answers"].str.split(" ").str.len()) == {options}


def test_constructions_are_those_that_are_named(folder):
    code, output = validate("export", "--output", "out", "--items", 4, "--constructions", "other")
    assert code == 0, output
    items = read_items(folder / "out" / "items.csv")
    assert set(items["construction"]) == {"", "other"}
    twice = validate("export", "--output", "new", "--items", 5000, *["--constructions", "other"] * 2)
    once = validate("export", "--output", "new", "--items", 5000, "--constructions", "other")
    assert once == twice
    code, output = validate("export", "--output", "new", "--items", 4, "--constructions", "tyo")
    assert code == 2
    assert "constructions/tyo/construction.yaml: there is no such file; did you mean 'toy'?" in output
    assert not (folder / "new").exists()


def test_pairs_that_test_form_are_judged_only_if_they_are_named(folder):
    pairs = folder / "constructions" / "toy" / "pairs.yaml"
    pairs.write_text(pairs.read_text().replace("tests: meaning", "tests: form"))
    validate("export", "--output", "out", "--items", 6)
    assert set(read_items(folder / "out" / "items.csv")["construction"]) == {"", "other"}
    validate("export", "--output", "named", "--items", 6, "--constructions", "toy")
    assert set(read_items(folder / "named" / "items.csv")["construction"]) == {"", "toy"}


def test_a_text_that_a_spreadsheet_would_run_is_refused_and_nothing_is_written(folder):
    pairs = folder / "constructions" / "toy" / "pairs.yaml"
    pairs.write_text(pairs.read_text().replace('"{N1} {verb} {N2} {gift}."', '"=1+1 {N1} {verb} {N2} {gift}."'))
    code, output = validate("export", "--output", "out", "--items", 4, "--constructions", "toy")
    assert (code, "a spreadsheet would run it as a formula" in output) == (2, True), output
    assert not (folder / "out").exists()


# What is wrong with which of thirty people who are made up, each named by the number of the form.
FAILING = {4: ["agreement"], 11: ["shuffled", "instruction"]}  # attention checks
REJECTED = {14: "RETURNED"}
UNLISTED = {16}
LEFT_OUT = {*FAILING, *REJECTED, *UNLISTED}


def answer_of(row, rng) -> str:
    """Return the letter that a person gives, who is wrong about a tenth of the items for each unit of form % 5."""
    is_wrong = row.item in FAILING.get(row.form, []) if row.kind == "check" else rng.random() < (row.form % 5) / 10
    return rng.choice([letter for letter in ("ABC" if row.c else "AB") if letter != row.gold]) if is_wrong else row.gold


def write_answers(folder, items) -> list:
    """Save the forms one by one as pages do, with Prolific's export; return the files."""
    rng, paths = random.Random(15), []
    for form, questions in items.groupby("form"):
        rows = [[row.export, form, row.number, f"person-{form}", answer_of(row, rng)] for row in questions.itertuples()]
        paths.append(write(folder / f"answers-{form}.csv", ["export", "form", "number", "rater", "answer"], rows))
    listed = [form for form in range(1, 31) if form not in UNLISTED]
    rows = [[f"s{form}", f"person-{form}", REJECTED.get(form, "APPROVED")] for form in listed]
    paths.append(write(folder / "prolific.csv", ["Submission id", "Participant id", "Status"], rows))
    return paths


def write(path, columns, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


@pytest.mark.parametrize("kind", ["pairs", "reasoning"])
def test_the_answers_of_thirty_people_are_counted_but_for_those_who_fail(folder, kind):
    amount, most = (60, 6) if kind == "pairs" else (16, 2)
    code, output = validate(
        *("export", "--output", "out", "--items", amount, "--kind", kind),
        *("--per-rater", most, "--raters-per-item", 30 * most // amount, "--seed", 2),
    )
    assert code == 0, output
    items = read_items(folder / "out" / "items.csv")
    paths = write_answers(folder, items)
    code, output = validate("import", *paths, "--items", "out/items.csv")
    assert code == 0, output
    lines = output.splitlines()
    left_out = {int(line.split("form ")[1].split(":")[0]) for line in lines if line.startswith("left out: ")}
    counted = items[(items["kind"] != "check") & ~items["form"].isin(LEFT_OUT)]
    assert left_out == LEFT_OUT
    assert f"{len(LEFT_OUT)} forms left out; {len(counted)} ratings; 0 questions without an answer" in output
    for name in ("toy", "other"):
        (found,) = human_agreement(load_ratings(name)).to_dict("records")
        of_construction = counted[counted["construction"] == name]
        assert found["n"] == of_construction["item"].nunique()
        assert found["ratings"] == len(of_construction)
        (line,) = [line for line in lines if line.startswith(f"{name} ")]
        shown = (f"{found['accuracy']:.1%} [", f"{found['full_agreement']:.1%} [", f"{found['alpha']:.3f}")
        assert all(number in line for number in shown), line
    ratings = folder / "constructions" / "toy" / "ratings.tsv"
    before = ratings.read_text()
    assert "person-" not in before
    assert len([line for line in lines if line.endswith((": wrong", ": tie"))]) > 0
    assert validate("import", *paths, "--items", "out/items.csv") == (0, output)
    assert ratings.read_text() == before


def test_more_wrong_checks_can_be_allowed(folder):
    validate("export", "--output", "out", "--items", 8, "--per-rater", 8, "--raters-per-item", 1)
    items = read_items(folder / "out" / "items.csv")
    rows = [
        [row.export, row.form, row.number, "Ann", "BA"["AB".index(row.gold)] if row.item == "shuffled" else row.gold]
        for row in items.itertuples()
    ]
    write(folder / "a.csv", ["export", "form", "number", "rater", "answer"], rows)
    assert "nobody has judged these constructions yet" in validate("import", "a.csv", "--items", "out/items.csv")[1]
    assert read_ratings(folder / "constructions" / "toy" / "ratings.tsv") == []
    assert "8 ratings" in validate("import", "a.csv", "--items", "out/items.csv", "--most-failed", 1)[1]
    assert "0 ratings" in validate("import", "a.csv", "--items", "out/items.csv")[1]
    assert read_ratings(folder / "constructions" / "toy" / "ratings.tsv") == []


def test_faults_are_printed_without_a_traceback_and_nothing_is_written(folder):
    validate("export", "--output", "out", "--items", 8)
    write(folder / "a.csv", ["a"], [["1"]])
    (folder / "constructions" / "toy" / "ratings.tsv").write_text("kind\n")
    code, output = validate("import", "a.csv", "none.csv", "--items", "out/items.csv")
    assert code == 2
    assert "Traceback" not in output
    assert ["a.csv" in output, "none.csv: there is no such file" in output] == [True, True]
    items = read_items(folder / "out" / "items.csv")
    rows = [[row.export, row.form, row.number, "Ann", row.gold] for row in items.itertuples()]
    write(folder / "b.csv", ["export", "form", "number", "rater", "answer"], rows)
    code, output = validate("import", "b.csv", "--items", "out/items.csv")
    assert code == 2
    assert "constructions/toy/ratings.tsv, line 1: expected the columns" in output
    assert not (folder / "constructions" / "other" / "ratings.tsv").exists()


@pytest.fixture
def treebank(folder, toy_tagger):
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
    (folder / "toy.conllu").write_text("\n".join(lines))

    def change(params):
        shrink(params)
        params["mining"]["tagger"] = str(toy_tagger)

    change_params(folder, ROOT / "params.yaml", change)
    return folder / "toy.conllu"


def test_a_pattern_has_its_precision_and_recall_on_a_treebank_with_n_and_interval(treebank):
    code, output = validate("pattern", "toy", "toy.conllu", "--cxn", "Toy", "--show", 1)
    assert code == 0, output
    lines = output.splitlines()
    assert [line.partition(" [")[0] for line in lines[:2]] == ["precision: 50.0%", "recall: 50.0%"]
    assert all(line.endswith("n = 2") for line in lines[:2])
    assert lines[2] == "sentences: 4; found, not annotated: 1; annotated, not found: 1"
    assert "  not found because of pre-filter: 1" in lines
    assert "found, not annotated: The tall man reads, the old man sleeps. (s3)" in lines
    assert "annotated, not found: The calm boys sleep, she says. (s2)" in lines


def test_what_a_pattern_cannot_be_compared_with_is_refused(treebank):
    code, output = validate("pattern", "toy", "toy.conllu", "--cxn", "Other")
    assert code == 2
    assert "no sentence has the construction Other; the files have Toy" in output
    code, output = validate("pattern", "toy", "toy.conllu", "--cxn", "Toy", "--gold")
    assert code == 2
    assert "the sentence s1 has no " in output
    code, output = validate("pattern", "toy", "none.conllu", "--cxn", "Toy")
    assert code == 2
    assert "none.conllu: there is no such file" in output
