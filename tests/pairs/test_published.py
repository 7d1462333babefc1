import pandas as pd

from cxprobe.pairs.report import ALL, SOURCE, pairs_beside_published


def test_published_numbers_stand_below_those_of_this_run_and_absent_is_not_zero():
    run = pd.DataFrame(
        [(ALL, "mini", 0.5, 0.4, 0.6, 100), ("let-alone", "mini", 0.7, 0.5, 0.9, 20)],
        columns=["construction", "model", "accuracy", "low", "high", "n"],
    )
    objectives = pd.DataFrame([("Big", "160G", 0.67)], columns=["model", "data", "score"])
    people = pd.DataFrame(
        [("let-alone", 112, 97.5), ("overall", 896, 96.0)], columns=["construction", "items", "majority_percent"]
    )
    own_people = pd.DataFrame(
        [("let-alone", 0.9, 0.8, 1.0, 10)], columns=["construction", "accuracy", "low", "high", "n"]
    )
    table = pairs_beside_published(run, own_people, objectives, people)
    assert table[["construction", "model", "source"]].to_numpy().tolist() == [
        [ALL, "mini", "this run"],
        [ALL, "Big", SOURCE],
        [ALL, "people (majority)", SOURCE],
        ["let-alone", "mini", "this run"],
        ["let-alone", "people (majority)", "this run"],
        ["let-alone", "people (majority)", SOURCE],
    ]
    ours = ["70.0 (50.0 to 90.0)", "90.0 (80.0 to 100.0)"]
    assert table["accuracy"].tolist() == ["50.0 (40.0 to 60.0)", "67.0", "96.0", *ours, "97.5"]
    assert table["n"].tolist() == ["100", "", "896", "20", "10", "112"]
