"""What blind models get on pairs before any run."""

from conftest import ROOT
from cxprobe.pairs.described import blind_rates
from cxprobe.project.params import load_params


def test_a_variant_that_single_words_answer_is_said_to_ask_nothing(monkeypatch):
    monkeypatch.chdir(ROOT)
    rates = blind_rates("conative", load_params())
    answered = rates[rates["items"].str.contains("single words answer it")]
    assert [items.split()[3] for items in answered["items"]] == ["A", "B"]
    assert set(answered["model"]) == {"trained-bag-of-words"}
    assert (answered["low"] > 0.5).all()
