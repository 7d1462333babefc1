import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxprobe.models.params import Member, ModelSpec, Rule
from cxprobe.models.texts import TokenScores, token_table
from cxprobe.results.comparisons import compare
from cxprobe.results.params import Families
from cxprobe.tasks.prompts.evaluate import (
    evaluate_baseline,
    evaluate_likelihoods,
    facets_of,
    prompt_responses,
    score_answers,
)

VALUES = st.lists(st.tuples(*[st.sampled_from([-3.0, -2.0, -1.0])] * 3), min_size=1, max_size=12)


def tables(values, golds="012"):
    rows = [(f"q{n}", golds[n % len(golds)], f"p{n // 2}") for n in range(len(values))]
    scores = [(f"q{n}", str(answer), "sum", value) for n, row in enumerate(values) for answer, value in enumerate(row)]
    return (
        pd.DataFrame(rows, columns=["id", "gold", "cluster_premise"]),
        pd.DataFrame(scores, columns=["id", "answer", "score", "value"]),
    )


@settings(deadline=None, max_examples=60)
@given(VALUES)
def test_the_likeliest_answer_wins_and_a_tie_is_shared(values):
    evaluated = evaluate_likelihoods(*tables(values))
    for row, own in zip(evaluated.itertuples(), values, strict=True):
        best = [str(answer) for answer, value in enumerate(own) if value == max(own)]
        assert row.credit == (1 / len(best) if row.gold in best else 0)
        assert row.answer == (best[0] if len(best) == 1 else "")
        assert row.outcome == ("tied" if len(best) > 1 else "right" if best == [row.gold] else "wrong")
        others = [value for answer, value in enumerate(own) if str(answer) != row.gold]
        assert row.margin == own[int(row.gold)] - max(others)


EVERY = ["sum", "per_token", "per_character", "pmi"]
CHOICES = pd.DataFrame(
    {"id": ["a", "b"], "question": ["Ann slept. So", "Bob ran. So"], "anywhere": ["So", "So"], "gold": ["0", "1"]}
)
ANSWERS = pd.DataFrame(
    [("a", "0", " yes."), ("a", "1", " no way."), ("b", "0", " yes."), ("b", "1", " no way.")],
    columns=["id", "answer", "text"],
)


def word_scores(text: str) -> TokenScores:
    """Give each word of a text, with the space before it, a log-probability that follows from it and what precedes."""
    stops = [place for place, letter in enumerate(text) if letter == " "] + [len(text)]
    spans = list(zip([0, *stops[:-1]], stops, strict=True))
    log_probs = [-len(text[:stop]) / 7 - start / 3 for start, stop in spans]
    numbers = np.arange(len(spans))
    return TokenScores(text, "causal", numbers, np.array(spans), numbers, np.array(log_probs))


def test_an_answer_has_the_scores_of_its_own_words_after_the_question_and_after_nothing():
    both = list(ANSWERS.merge(CHOICES, on="id").itertuples())
    texts = dict.fromkeys(before + row.text for row in both for before in (row.question, row.anywhere))
    found = score_answers(CHOICES, ANSWERS, token_table(list(map(word_scores, texts))), EVERY)
    assert len(found) == 4 * 4
    values = found.set_index(["id", "answer", "score"])["value"]
    for row in both:
        words = row.text.split()
        total = sum(word_scores(row.question + row.text).log_probs[-len(words) :])
        alone = sum(word_scores(row.anywhere + row.text).log_probs[-len(words) :])
        expected = [total, total / len(words), total / len("".join(words)), total - alone]
        np.testing.assert_allclose([values[row.id, row.answer, name] for name in EVERY], expected)


SPEC = ModelSpec(name="m", revision=None, sha256=None, dtype="float32")
MEMBERS = [
    Member("real", SPEC, "real"),
    Member("random", ModelSpec(**SPEC.model_dump() | {"weights": "random", "seed": 1}), "random"),
    Member("negation", Rule(kind="negation"), "rules"),
    Member("overlap", Rule(kind="word_overlap"), "rules"),
]
GOLDS = "0120120120"


def items() -> pd.DataFrame:
    rows = [(f"i{n}", "inference", "own", "toy", "", True, gold, f"p{n}", n < 6) for n, gold in enumerate(GOLDS)]
    columns = ["id", "kind", "set", "construction", "test", "answerable", "gold", "cluster_premise", "drawn"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(template="", reading="", control=False, cluster_wording=table["id"])


def baseline_answers(chosen: str) -> pd.DataFrame:
    """Return answers to the first items: for each the symbol that is chosen, or "-" where there is no choice."""
    rows = []
    for n, own in enumerate(chosen):
        rates = {symbol: 1 / 3 if own == "-" else 0.6 if symbol == own else 0.2 for symbol in "012"}
        rows += [(f"i{n}", symbol, np.log(rate)) for symbol, rate in rates.items()]
    return pd.DataFrame(rows, columns=["id", "symbol", "log_p"])


def asked(model: str, credits: list[float], prompts: int = 2) -> pd.DataFrame:
    """Return every item asked by some prompts, of which the first ``credits`` are those of the items."""
    own = items()[: len(credits)]
    own = own.assign(model=model, asked="pmi", credit=credits, outcome="right", answer="0", order="")
    settings = {"shots": 0, "examples": "none", "chain_of_thought": False}
    tables = [own.assign(item=own["id"], id=own["id"] + f"/{n}", prompt=f"x{n}", **settings) for n in range(prompts)]
    return pd.concat(tables, ignore_index=True)


def test_a_baseline_answers_an_item_once_and_some_items_not_at_all():
    evaluated = evaluate_baseline(items().assign(drawn=[True, False, *[True] * 8]), baseline_answers("0-0"))
    assert evaluated["id"].tolist() == evaluated["item"].tolist() == ["i0", "i1", "i2"]
    assert evaluated["credit"].tolist() == pytest.approx([1, 1 / 3, 0])
    assert evaluated["outcome"].tolist() == ["right", "tied", "wrong"]
    assert (evaluated[["prompt", "shots", "examples"]] == ["none", 0, "none"]).all(axis=None)
    # An item that no question is about is in no rate beside those of other models.
    assert prompt_responses(evaluated, "pmi")["decides"].tolist() == [True, False, True]
    assert evaluate_baseline(items(), baseline_answers("")).empty


def compared(evaluated: pd.DataFrame, score: str) -> pd.DataFrame:
    """Return the comparisons of models, whose slugs are in the column model."""
    parts = [
        prompt_responses(answers, score).assign(task="prompts", model=model)
        for model, answers in evaluated.groupby("model", sort=False)
    ]
    families = Families(random_weights=True, best_baseline=True, neighbours=True, models=[])
    return compare(pd.concat(parts, ignore_index=True), facets_of(score), MEMBERS, {}, families)


def baselines() -> list[pd.DataFrame]:
    return [
        evaluate_baseline(items().assign(drawn=True), baseline_answers(chosen)).assign(model=name)
        for name, chosen in (("negation", "0000000000"), ("overlap", "0120120120"))
    ]


def test_models_are_compared_by_item_over_all_prompts_with_the_best_baseline_and_the_random_weights_control():
    half = [1.0, 0.0] * 5
    evaluated = pd.concat([asked("real", half), asked("random", [0.0] * 10), *baselines()], ignore_index=True)
    second = evaluated["id"].str.endswith("/1")
    evaluated.loc[second & (evaluated["model"] == "real"), "credit"] = 0.0  # with the second prompt
    table = compared(evaluated, "pmi").query("first == 'real'").set_index("compares")
    assert set(table.index) == {"best baseline", "random weights"}
    assert table.loc["best baseline", ["first", "second", "n"]].tolist() == ["real", "overlap", 10]
    assert table.loc["best baseline", "difference"] == pytest.approx(0.25 - 1)
    assert table.loc["random weights", "difference"] == pytest.approx(0.25)
    assert compared(evaluated, "sum").empty  # another score does not count
