"""Judging all models of a line: a fault of one is told, and the others are judged."""

from dataclasses import replace

from toy_stages import BLIND, FACTS

from cxprobe.files.writing import DATA
from cxprobe.lm.language_models import write_model_facts
from cxprobe.pairs.params import PairsStage
from cxprobe.report.judging import judge_members, line_members
from cxprobe.run.params import read_params
from cxprobe.run.stage import Stage

pytest_plugins = ["toy_stages"]


def test_a_model_whose_weights_are_not_those_of_params_is_a_fault_of_its_own(workspace):
    stage = Stage("judge_pairs", "", read_params(PairsStage))
    for member in line_members(stage.params):
        facts = BLIND if member.is_blind else FACTS
        folder = DATA / "score_pairs" / member.entry / member.inside
        folder.mkdir(parents=True, exist_ok=True)
        write_model_facts(replace(facts, state="random") if member.slug == "mlm" else facts, folder)
    judging = judge_members(stage, lambda member, folder: folder.name)
    assert list(judging.faults) == ["mlm"]
    assert "weights of mlm are 'random', and params.yaml that they are 'trained'" in judging.faults["mlm"]
    assert set(judging.judged) == {one.slug for one in line_members(stage.params)} - {"mlm"}
    assert judging.run("shorter", construction="toy", source="own", dataset=None, items=1, metrics={}, settings={})
