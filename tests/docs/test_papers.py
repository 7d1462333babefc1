"""docs/papers.md: what it says is so, it is what the data say, and the presets of the papers agree with each other."""

import csv
import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from conftest import ROOT
from cxprobe.cli.papers import costs_text, count_costs, make_papers_page, papers, read_presets
from cxprobe.errors import DataError
from cxprobe.planning.atlas import Costs, faults_of_atlas, load_atlas

PIPELINE = YAML(typ="safe").load(ROOT / "dvc.yaml")
OF_PAPERS = ("weissweiler2022", "scivetti2025", "oba2026", "paper")


@pytest.fixture
def atlas(monkeypatch):
    monkeypatch.chdir(ROOT)
    return load_atlas()


@pytest.fixture
def contents(monkeypatch):
    monkeypatch.chdir(ROOT)
    return read_presets()


def kept_costs() -> Costs:
    return Costs.model_validate(YAML(typ="safe").load(ROOT / "docs" / "costs.yaml"))


def faults(atlas, contents) -> list[str]:
    return list(faults_of_atlas(atlas, PIPELINE, contents, Path.is_file))


def with_entry(atlas, at: str, changes: dict):
    """Return the atlas with one entry changed."""
    papers = [
        paper.model_copy(
            update={
                "entries": [entry.model_copy(update=changes) if entry.place == at else entry for entry in paper.entries]
            }
        )
        for paper in atlas.papers
    ]
    return atlas.model_copy(update={"papers": papers})


def test_the_page_in_git_is_what_the_data_say(monkeypatch):
    monkeypatch.chdir(ROOT)
    kept = (ROOT / "docs" / "papers.md").read_text()
    assert kept == make_papers_page(), "presets, pipeline or docs/*.yaml have changed; `cxprobe papers` writes it anew"


@pytest.mark.slow
def test_what_stages_take_is_what_is_counted(monkeypatch):
    monkeypatch.chdir(ROOT)
    kept, counted = numbers(kept_costs()), numbers(count_costs())
    assert kept.keys() == counted.keys(), "stages or models have changed; `cxprobe papers --count` counts anew"
    for place, value in counted.items():
        assert kept[place] == pytest.approx(value, rel=0.15), place


def numbers(costs: Costs) -> dict[tuple[str, ...], float]:
    return {
        (preset, stage, model, key): value
        for preset, stages in costs.presets.items()
        for stage, models in stages.items()
        for model, cost in models.items()
        for key, value in cost.model_dump().items()
    }


def test_costs_are_read_as_they_are_written():
    assert Costs.model_validate(YAML(typ="safe").load(costs_text(kept_costs()))) == kept_costs()


def test_costs_are_those_of_the_models_in_the_grids_of_the_presets(contents):
    kept = kept_costs()
    assert set(kept.presets) == set(contents)
    for name, stages in kept.presets.items():
        grid = contents[name]["grid"]
        assert set(stages.get("ask_llms", ())) == set(grid["prompts"]["llms"])
        assert set(stages.get("ask_pairs", ())) == set(grid["pairs"]["llms"])
        for stage, line in (
            ("score_pairs", "pairs"),
            ("fill_scenarios", "scenarios"),
            ("extract_features", "recognition"),
            ("score_benchmarks", "benchmarks"),
        ):
            measured = {slug for slug in grid[line]["models"] if not slug.startswith("blind-")}
            assert set(stages.get(stage, ())) - {"second-sentence-alone"} == measured, (name, stage)


def test_what_the_atlas_says_is_so(atlas, contents):
    assert faults(atlas, contents) == []


def test_every_published_file_stands_beside_an_entry(atlas):
    named = {path for paper in atlas.papers for entry in paper.entries for path in entry.published}
    there = {f"published/{path.name}" for path in (ROOT / "published").glob("*.tsv")}
    assert named == there


def test_every_stage_that_measures_or_reports_is_on_the_page(atlas):
    named = {stage for paper in atlas.papers for entry in paper.entries for stage in entry.stages}
    kinds = {name: (stage.get("do", stage)["cmd"]).split("/")[1] for name, stage in PIPELINE["stages"].items()}
    # This project's own: base models, pairs of others in words, the same pairs by a probe, and the pages of the report.
    beyond = {"score_answers", "ask_benchmarks", "fit_pair_probes", "report"}
    assert {name for name, kind in kinds.items() if kind in ("measure", "report")} - beyond <= named


def test_reports_are_files_that_some_code_writes(atlas):
    code = "\n".join(
        path.read_text() for folder in ("src/cxprobe", "pipelines") for path in (ROOT / folder).rglob("*.py")
    )
    names = [path for paper in atlas.papers for entry in paper.entries for path in entry.report]
    series = YAML(typ="safe").load(ROOT / "presets" / "oba2026.yaml")["series"]
    for path in names:
        stem = Path(path).stem
        kind, _, of = stem.partition("_")
        named = (kind == "series" and of.removesuffix("_biases") in series) or (
            kind == "recognition" and (ROOT / "constructions" / of).is_dir()
        )
        assert named or any(f'"{one}' in code or f'{one}"' in code for one in (stem, f"_{of}", of) if one), path


def test_models_have_their_names_of_the_published_tables(atlas):
    for slug, model in atlas.published_models.items():
        for path in model.files:
            with (ROOT / path).open() as file:
                assert model.name in {row["model"] for row in csv.DictReader(file, delimiter="\t")}, (slug, path)


@pytest.mark.parametrize(
    ("place", "changes", "fault"),
    [
        ("Table 1", {"stages": ["build_scenery"]}, "W22, Table 1: dvc.yaml has no stage build_scenery"),
        ("Table 1", {"preset": "oba2026"}, "W22, Table 1: build_scenarios does not run with the preset oba2026"),
        ("Table 1", {"preset": "weissweiler"}, "W22, Table 1: there is no preset weissweiler"),
        ("Table 1", {"report": ["results/build_scenery/x.csv"]}, "is written by none of its stages"),
        ("Table 2", {"published": ["published/none.tsv"]}, "O26, Table 2: there is no file published/none.tsv"),
        ("Figure 3", {"place": "a figure"}, "O26: Figure 3 has no line"),
        ("Tables 12 to 15", {"place": "Tables 12 to 14"}, "S25: Table 15 has no line"),
        ("Figure 3", {"models": ["pythia-13b"]}, "O26, Figure 3: oba2026 has no pythia-13b in its grid"),
    ],
)
def test_what_is_not_so_is_found(atlas, contents, place, changes, fault):
    assert any(fault in one for one in faults(with_entry(atlas, place, changes), contents))


def test_an_entry_that_does_not_run_says_why(tmp_path):
    head = "papers: [{key: X, title: t, preset: p, entries: [{place: Table 1, what: w, "
    for entry, message in (
        ("status: cannot be done, deviates: ''", "so say why in deviates"),
        ("status: runs, deviates: ''", "so give preset and stages"),
        ("status: by hand, deviates: d", "so give command"),
    ):
        (tmp_path / "papers.yaml").write_text(f"{head}{entry}}}]}}]\npublished_models: {{}}\n")
        with pytest.raises(DataError, match=message):
            load_atlas(tmp_path / "papers.yaml")


def test_the_command_writes_the_page(monkeypatch, tmp_path):
    for name in ("docs", "presets", "published", "constructions", "dvc.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "docs").unlink()
    (tmp_path / "docs").mkdir()
    for name in ("papers", "costs", "plan"):
        (tmp_path / "docs" / f"{name}.yaml").symlink_to(ROOT / "docs" / f"{name}.yaml")
    monkeypatch.chdir(tmp_path)
    papers()
    assert (tmp_path / "docs" / "papers.md").read_text() == (ROOT / "docs" / "papers.md").read_text()


def test_a_slug_means_the_same_model_in_all_presets(contents):
    for section in ("models", "llms", "series", "corpora", "benchmarks"):
        known: dict[str, object] = {}
        for name in OF_PAPERS:
            for slug, entry in (contents[name].get(section) or {}).items():
                assert known.setdefault(slug, entry) == entry, (section, slug, name)


def test_all_together_has_every_model_of_each_paper(contents):
    for section in ("models", "llms"):
        single = {slug for name in OF_PAPERS[:-1] for slug in contents[name].get(section) or {}}
        assert single <= set(contents["paper"][section])
    for line in ("recognition", "scenarios", "pairs", "prompts", "benchmarks"):
        for name in OF_PAPERS[:-1]:
            for key in ("models", "llms"):
                asked = contents[name]["grid"][line].get(key, [])
                assert set(asked) <= set(contents["paper"]["grid"][line].get(key, [])), (line, name)


def test_no_hash_is_invented(contents):
    """A full commit that is in no other file of the project would be one that nobody has checked."""
    checked = "1588ec454efa1a09f29cd18ddd04fe05fc8653a2"  # C4's, which presets/paper.yaml has had from the start
    for name in OF_PAPERS:
        text = (ROOT / "presets" / f"{name}.yaml").read_text()
        weights = (ROOT / "params.yaml").read_text()
        for found in re.findall(r"\b[0-9a-f]{40,64}\b", text):
            assert found == checked or found in weights, (name, found)
