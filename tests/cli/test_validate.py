"""`cxprobe validate`: forms are written, thirty people who are made up answer them, and the numbers are theirs."""

import csv
import random
from collections import Counter
from itertools import permutations

import pandas as pd
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


def test_an_export_without_enough_items_writes_nothing(folder):
    code, output = validate("export", "--output", "out", "--items", 5000)
    assert code == 2
    assert "there are 64 items to draw from" in output
    assert not (folder / "out").exists()


# What is wrong with which of the people, each named by the number of the form.
FAILING = {4: ["agreement"], 11: ["shuffled", "instruction"], 19: ["agreement", "instruction", "shuffled"]}
SILENT = {7}  # answers no check
REJECTED = {13: "REJECTED", 14: "RETURNED"}
UNLISTED = {16}
LEFT_OUT = {*FAILING, *SILENT, *REJECTED, *UNLISTED}
FORGETFUL = {2: 0.5, 22: 0.25, 23: 0.75}  # how much of the form is not answered


class People:
    """People who are made up, one a form, with error rates and faults that are known."""

    def __init__(self, items: pd.DataFrame) -> None:
        self.answers, self.counted = [], []
        rng = random.Random(15)
        for form, questions in items.groupby("form"):
            rater = f"5f{form:022x}"
            error = (form % 5) / 10
            for row in questions.itertuples():
                is_wrong = row.item in FAILING.get(form, []) if row.kind == "check" else rng.random() < error
                letters = "ABC"[: 3 if row.c else 2]
                letter = rng.choice([one for one in letters if one != row.gold]) if is_wrong else row.gold
                is_absent = form in SILENT if row.kind == "check" else rng.random() < FORGETFUL.get(form, 0.0)
                self.answers.append((rater, form, row.number, "" if is_absent else letter))
                if row.kind != "check" and not is_absent and form not in LEFT_OUT:
                    self.counted.append(
                        (row.construction, row.item, rater, row.answers.split()["ABC".index(letter)], row)
                    )

    def save(self, folder, export) -> list:
        """Save the forms one by one as pages do; with Prolific's export."""
        paths = []
        for form in range(1, 31):
            rows = [
                [export, form, number, who, letter, "2026-01-31"]
                for who, one, number, letter in self.answers
                if one == form
            ]
            paths.append(
                write(folder / f"answers-{form}.csv", ["export", "form", "number", "rater", "answer", "saved"], rows)
            )
        raters = {form: who for who, form, _, _ in self.answers if form not in UNLISTED}
        rows = [[f"s{form}", who, REJECTED.get(form, "APPROVED"), 600] for form, who in raters.items()]
        rows.append(["s99", "5faaaaaaaaaaaaaaaaaaaaaa", "RETURNED", 3])  # has opened a form and answered nothing
        paths.append(write(folder / "prolific.csv", ["Submission id", "Participant id", "Status", "Time taken"], rows))
        return paths

    def expected(self, construction: str) -> dict[str, float]:
        """Compute by brute force what is reported of a construction."""
        own = [one for one in self.counted if one[0] == construction]
        by_item: dict[str, list[str]] = {}
        for _, item, _, answer, _ in own:
            by_item.setdefault(item, []).append(answer)
        golds = {item: row.answers.split()["ABC".index(row.gold)] for _, item, _, _, row in own}
        right = 0.0
        for item, given in by_item.items():
            votes = given.count(golds[item])
            most = max(given.count(one) for one in given)
            modes = sum(given.count(one) == most for one in set(given))
            right += (votes == most) * (1.0 if modes == 1 else 0.5)
        several = [given for given in by_item.values() if len(given) > 1]
        values = [one for given in several for one in given]
        within = sum(sum(a != b for a, b in permutations(given, 2)) / (len(given) - 1) for given in several) / len(
            values
        )
        among = sum(a != b for a, b in permutations(values, 2)) / (len(values) * (len(values) - 1))
        return {
            "n": len(by_item),
            "raters": len({one[2] for one in own}),
            "ratings": len(own),
            "accuracy": right / len(by_item),
            "full_n": len(several),
            "full_agreement": sum(len(set(given)) == 1 for given in several) / len(several),
            "alpha": 1 - within / among,
        }


def write(path, columns, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    return path


@pytest.mark.parametrize("kind", ["pairs", "reasoning"])
def test_the_numbers_of_thirty_people_with_known_errors_are_right(folder, kind):
    amount, most = (60, 6) if kind == "pairs" else (16, 2)
    code, output = validate(
        *("export", "--output", "out", "--items", amount, "--kind", kind),
        *("--per-rater", most, "--raters-per-item", 30 * most // amount, "--seed", 2),
    )
    assert code == 0, output
    items = read_items(folder / "out" / "items.csv")
    people = People(items)
    paths = people.save(folder, items["export"][0])
    code, output = validate("import", *paths, "--items", "out/items.csv")
    assert code == 0, output

    left_out = [line for line in output.splitlines() if line.startswith("left out: ")]
    assert {int(line.split("form ")[1].split(":")[0]) for line in left_out} == LEFT_OUT
    assert any(line.endswith("form 14: not approved on Prolific (RETURNED)") for line in left_out)
    assert any(line.endswith("form 16: not in Prolific's export") for line in left_out)
    assert any(line.endswith("form 11: 2 of 3 attention checks wrong (instruction, shuffled)") for line in left_out)
    assert any(line.endswith("form 7: no attention check answered") for line in left_out)
    assert f"{len(LEFT_OUT)} forms left out; {len(people.counted)} ratings;" in output

    for name in ("toy", "other"):
        (found,) = human_agreement(load_ratings(name)).to_dict("records")
        brute = people.expected(name)
        assert {key: found[key] for key in brute} == pytest.approx(brute, abs=1e-12)
        line = next(line for line in output.splitlines() if line.startswith(f"{name} "))
        for shown in (
            f" {brute['n']} ",
            f"{brute['accuracy']:.1%} [",
            f"{brute['full_agreement']:.1%} [",
            f"{brute['alpha']:.3f}",
        ):
            assert shown in line, (shown, line)
    ratings = (folder / "constructions" / "toy" / "ratings.tsv").read_text()
    assert "5f0" not in ratings  # nobody's ID

    wrong = [line for line in output.splitlines() if line.endswith((": wrong", ": tie"))]
    assert f"{len(wrong)} items about which most people do not give the right answer" in output
    assert len(wrong) > 0

    again = validate("import", *paths, "--items", "out/items.csv")
    assert again == (0, output)
    assert (folder / "constructions" / "toy" / "ratings.tsv").read_text() == ratings


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


def test_a_language_model_is_kept_under_its_name_and_counted_apart_from_people(folder):
    validate("export", "--output", "out", "--items", 6, "--raters-per-item", 1, "--constructions", "toy")
    items = read_items(folder / "out" / "items.csv")
    answers = [
        [items["export"][0], row.form, row.number, who, row.gold, "2026-01-31"]
        for who in ("model:reader-1", "Ann")
        for row in items.itertuples()
    ]
    file = write(folder / "answers.csv", ["export", "form", "number", "rater", "answer", "saved"], answers)
    code, output = validate("import", file, "--items", folder / "out" / "items.csv")
    assert code == 0, output
    of_people, of_models = output.split("Language models, counted apart from people:")
    for part in (of_people, of_models):
        assert part.count("toy") == 1
    ratings = read_ratings(folder / "constructions" / "toy" / "ratings.tsv")
    assert Counter(rating.rater == "model:reader-1" for rating in ratings) == {True: 6, False: 6}
    assert set(load_ratings("toy")["rater"]) == {rating.rater for rating in ratings} - {"model:reader-1"}


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
