import pandas as pd
from evaluated_pairs import of_benchmark, rates_of_pairs, responses_of, tokens

from cxprobe.models.texts import token_table
from cxprobe.tasks.pairs.evaluate import decide_pairs
from cxprobe.tasks.pairs.params import Benchmark

TEXTS = {"She sings.": -1.0, "She sing.": -2.0, "He ran.": -3.0, "He run.": -3.0, "We go.": -9.0, "We goes.": -4.0}
PAIRS = pd.DataFrame(
    [
        ("a", "", "She sings.", "She sing.", "agreement", "x"),
        ("b", "", "He ran.", "He run.", "tense", "x"),
        ("c", "", "We go.", "We goes.", "agreement", "y"),
    ],
    columns=["id", "context", "good", "bad", "construction", "group"],
).assign(item=list("abc"), cluster_item=list("abc"))


ANSWERS = token_table([tokens(text, "causal", [total / 2] * 2) for text, total in TEXTS.items()])


def judge(name, pairs, settings):
    how = of_benchmark(settings, name)
    decided = decide_pairs(pairs, ANSWERS, how)
    return decided, responses_of({"m": decided}, how)


def benchmark(**changes) -> Benchmark:
    every = {"format": "blimp", "files": "*", "by": ["phenomenon", "field"], "score": "sum"}
    return Benchmark(**every | changes)


def test_a_benchmark_is_judged_by_its_own_score_and_by_those_of_whole_texts():
    decided, _ = judge("others", PAIRS, benchmark(score="per_character"))
    deciding = decided[decided["deciding"]]
    assert deciding["accuracy"].tolist() == [1.0, 0.5, 0.0]
    assert deciding["score"].unique().tolist() == ["per_character"]
    assert set(decided["score"]) == {"sum", "per_token", "per_character"}


def test_a_benchmark_has_rates_of_its_constructions_and_their_groups():
    _, responses = judge("others", PAIRS, benchmark())

    def numbers(*columns: str) -> dict:
        rates = rates_of_pairs(responses, *columns).xs(("accuracy", "m"), level=["measure", "model"])
        return rates[["value", "n", "ties", "decides"]].apply(tuple, axis=1).to_dict()

    assert numbers() == {
        ("all", "others"): (0.5, 3, 1, True),
        ("agreement", "others"): (0.5, 2, 0, True),
        ("tense", "others"): (0.5, 1, 1, True),
    }
    assert numbers("group") == {
        ("all", "others", "x"): (0.75, 2, 1, False),
        ("all", "others", "y"): (0.0, 1, 0, False),
        ("agreement", "others", "x"): (1.0, 1, 0, False),
        ("agreement", "others", "y"): (0.0, 1, 0, False),
        ("tense", "others", "x"): (0.5, 1, 1, False),
    }
