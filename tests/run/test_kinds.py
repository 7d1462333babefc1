import pytest

from conftest import ROOT
from cxprobe.run.record import is_tracked, kind_of, line_of_work


@pytest.mark.parametrize(
    ("stage", "kind"),
    [
        ("generate_sentences", "make"),
        ("build_pairs", "make"),
        ("extract_features", "measure"),
        ("ask_llms", "measure"),
        ("judge_probes", "judge"),
        ("report_pairs", "report"),
    ],
)
def test_the_verb_of_a_stage_says_its_kind(stage, kind):
    assert kind_of(stage) == kind


def test_every_script_is_in_the_folder_of_its_kind():
    scripts = [
        path for folder in ("make", "measure", "judge", "report") for path in (ROOT / "pipelines" / folder).glob("*.py")
    ]
    assert scripts
    assert [path for path in scripts if kind_of(path.stem) != path.parent.name] == []


def test_a_stage_of_an_unknown_kind_is_refused_with_the_verbs_that_are_known():
    with pytest.raises(ValueError, match=r"summarise_pairs: the name of a stage begins with one of generate, list, .*"):
        kind_of("summarise_pairs")


@pytest.mark.parametrize(
    ("stage", "line"),
    [
        ("judge_probes", "recognition"),
        ("judge_replies", "prompts"),
        ("judge_answers", "prompts"),
        ("judge_pairs", "pairs"),
        ("judge_pair_replies", "pairs"),
        ("judge_benchmark_replies", "benchmarks"),
        ("judge_scenarios", "scenarios"),
        ("judge_benchmarks", "benchmarks"),
        ("report_pairs", "pairs"),
    ],
)
def test_judged_runs_are_in_the_experiment_of_their_line_of_work(stage, line):
    assert line_of_work(stage) == line


def test_a_stage_that_only_lists_files_has_no_run():
    assert not is_tracked("list_corpus")
    assert is_tracked("mine_sentences")
