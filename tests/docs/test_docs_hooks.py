"""What makes pages: models, numbers of the recorded run, links, the picture."""

import json
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field
from written_pages import PAGES  # which finds the hooks

from conftest import ROOT
from cxprobe.files.schema import Closed

pytest.importorskip("mkdocs", reason="needs the extra docs")
from formats_in_markdown import describe_formats
from models_in_markdown import as_markdown, describe_model
from pages import SENT, describe_results, generated_pages
from picture import PICTURE, describe, read_rates, write
from rates import describe_verdicts, fill_rates, read_rate
from stages_in_markdown import describe_pipeline


class Inner(Closed):
    """What is inside."""

    size: Annotated[int, Field(ge=1)]
    """How large."""


class Outer(Closed):
    """A file."""

    kind: Literal["a", "b"]
    """One of two."""
    inner: Inner
    names: list[str] = Field(default_factory=list)
    """Some [names]; `code[0]` as it is."""
    rate: float | None = None
    """In <percent>."""


def test_a_model_is_described_with_types_bounds_defaults_and_docstrings():
    text = describe_model(Outer, 3)
    assert "| `kind` | `a` or `b` | One of two. |" in text
    assert "| `inner` | [Inner](#inner) | What is inside. |" in text
    assert "| `size` | integer, at least 1 | How large. |" in text
    assert r"| `names` | list of text | Some \[names\]; `code[0]` as it is. May be left out. |" in text
    assert "| `rate` | number or `null` | In &lt;percent>. Default: `null`. |" in text


def test_values_of_a_file_stand_beside_the_keys_of_its_sections():
    text = describe_model(Outer, 2, {"kind": "a", "inner": {"size": 7}})
    assert "| `kind` | `a` or `b` | One of two. | `a` |" in text
    assert "## inner {#inner}\n\nWhat is inside.\n" in text
    assert "| `size` | integer, at least 1 | How large. | `7` |" in text


class Entry(Closed):
    """An entry."""

    part: Inner | None
    """Perhaps."""


class Whole(Closed):
    """A file with two levels of sections."""

    first: Entry
    others: dict[str, Inner]


def test_a_model_stands_once_below_the_first_section_that_has_it():
    text = describe_model(Whole, 2)
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "## first {#entry}",
        "### first.part {#inner}",
    ]
    assert "| `others` | name: [Inner](#inner) |" in text


def test_code_in_a_docstring_stays_as_it_is():
    assert as_markdown("a [b]\n\n    >>> x[0] < 1\n") == "a \\[b\\]\n\n    >>> x[0] < 1\n"


@pytest.fixture
def results(tmp_path):
    """A project's folder with two files of results."""
    (tmp_path / "results").mkdir()
    content = {"a": {"all, own": {"accuracy": 0.681, "low": 0.625, "high": 0.731, "n": 1720}, "flips": 0.958}}
    (tmp_path / "results" / "metrics.json").write_text(json.dumps(content))
    (tmp_path / "results" / "accuracy.csv").write_text("model,accuracy,low,high,n\na,0.5,0.4,0.6,10\nb,0.25,0,1,2\n")
    return tmp_path


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("results/metrics.json: a/all, own", "68 % [62, 73], n = 1,720"),
        ("results/metrics.json: a/flips", "96 %"),
        ("results/accuracy.csv: model=a", "50 % [40, 60], n = 10"),
        ("results/accuracy.csv: model=b", "0.5 of 2 right"),
    ],
)
def test_numbers_are_put_into_the_text(results, place, shown):
    filled = fill_rates(f"It is <!-- {place} -->old<!-- -->.", results)
    assert filled.replace("\u00a0", " ") == f"It is <!-- {place} -->{shown}<!-- -->."


@pytest.mark.parametrize(
    ("place", "fault"),
    [
        ("results/none.json: x", "is not there"),
        ("results/metrics.json: a/half", "has no 'a/half'"),
        ("results/metrics.json: a", "has no accuracy"),
        ("results/accuracy.csv: n=3", "has 0 rows"),
    ],
)
def test_a_number_that_is_not_there_is_a_fault(results, place, fault):
    with pytest.raises(ValueError, match=fault):
        fill_rates(f"<!-- {place} --><!-- -->", results)


def test_the_numbers_and_verdicts_of_pages_are_those_of_the_recorded_run():
    how = "`python docs/hooks/rates.py` writes them anew"
    for page in PAGES:
        assert page.read_text() == fill_rates(page.read_text(), ROOT), (page, how)
        assert "{{" not in page.read_text(), page


def test_the_page_of_file_formats_in_git_is_what_the_code_says():
    kept = (ROOT / "docs" / "reference" / "formats.md").read_text()
    how = "`python docs/hooks/formats_in_markdown.py` writes it anew"
    assert kept == describe_formats(ROOT), how


def test_stages_are_described_by_their_comment_and_script():
    text = describe_pipeline(ROOT)
    assert "## Minimal pairs\n" in text
    assert "### score_pairs\n\nHow probable each token of every pair is.\n" in text
    assert "- once for each: model of `pairs.models`\n" in text
    assert "- run it: `dvc repro score_pairs`, or by hand `sh pipelines/run pairs/score ITEM`" in text
    assert "data/list_code/" not in text.split("## Corpora")[1]


def test_the_verdicts_of_the_report_are_listed_with_their_rules():
    rule = "| ▲ above the best blind model | the interval lies above chance, and the difference from"
    assert rule in describe_verdicts()


def test_links_of_the_readme_stay_inside_the_site():
    home = generated_pages()["index.md"]
    assert "](tutorials/first-run.md)" in home
    assert "](reference/constructions.md)" in home
    assert "](images/overview.svg)" in home
    assert "](docs/" not in home
    assert 'table["text"]' in home


def test_the_picture_and_its_text_are_what_the_results_say(tmp_path):
    for name in ("results", "README.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "README.md").unlink()
    (tmp_path / "README.md").write_text((ROOT / "README.md").read_text())
    (tmp_path / PICTURE).parent.mkdir(parents=True)
    write(tmp_path)
    how = "the results have changed; `python docs/hooks/picture.py` draws the picture anew"
    assert (tmp_path / "README.md").read_text() == (ROOT / "README.md").read_text(), how
    assert texts_of(tmp_path / PICTURE) == texts_of(ROOT / PICTURE), how
    assert "SmolLM2 135M " in describe(ROOT)


def test_a_dot_of_the_picture_is_the_rate_of_the_report():
    rates = read_rates(ROOT).set_index(["model", "construction"])
    dot = rates.loc["smollm2-135m", "ditransitive"]
    for name, construction in (("meaning", "ditransitive"), ("form", "ditransitive-form")):
        key = f"model=smollm2-135m, construction={construction}, words=real"
        assert dot[name] == float(read_rate(ROOT / "results/report_pairs/accuracy.csv", key)["accuracy"])
    assert "subject-verb-agreement" not in rates.index.get_level_values("construction"), "it has no pairs of meaning"


def texts_of(path: Path) -> list[str]:
    """Return the texts of an SVG: its lines depend on the version of what draws them."""
    return [
        line.split(">")[1].split("<")[0] for line in path.read_text().splitlines() if line.strip().startswith("<text")
    ]


def test_numbers_that_people_have_sent_make_one_table_and_a_file_with_a_fault_is_named(tmp_path):
    row = ["oba2026", "Table 2", "RoBERTa-base", "ours, 90", "51.2", "40.1", "62.3", "57.3", "items differ"]
    row += ["2026-01-31", "Ann", "0.1.0"]
    (tmp_path / "one.tsv").write_text("\t".join(SENT) + "\n" + "\t".join(row) + "\n")
    *_, shown = describe_results(tmp_path).splitlines()
    assert shown.startswith("| oba2026 | Table 2 | RoBERTa-base | ours, 90 | 51.2 [40.1, 62.3] | 57.3 | items differ |")
    (tmp_path / "two.tsv").write_text("\t".join(SENT) + "\n" + "\t".join([*row[:4], "half", *row[5:]]) + "\n")
    with pytest.raises(ValueError, match=r"two\.tsv: expected the columns paper, table"):
        describe_results(tmp_path)


def test_what_was_sent_can_be_shown_and_claims_to_reproduce_nothing_that_it_does_not():
    text, table = (ROOT / "docs" / "howto" / "papers.md").read_text(), describe_results(ROOT / "docs" / "reproduced")
    same = [line for line in table.splitlines() if "| yes |" in line]
    assert ("**No published number has been reproduced yet" in text) == (not same)
