"""Rates of responses, against plain means, and which of them decide."""

from itertools import product

import numpy as np
import pandas as pd

from cxprobe.results.rates import ALL, Facet, divided_by, rates_of, with_all


def responses() -> pd.DataFrame:
    """Return the responses of two models to four items of two constructions, in two orders; the first order decides."""
    columns = ["model", "construction", "item", "order"]
    table = pd.DataFrame(product(("good", "poor"), ("c1", "c2"), "0123", ("first", "second")), columns=columns)
    is_first = table["order"] == "first"
    table["value"] = np.where(is_first, table["model"] == "good", table["item"].astype(int) % 2).astype(float)
    fixed = {"task": "toy", "source": "own", "measure": "accuracy", "chance": 0.5, "question": "form"}
    return table.assign(**fixed, decides=is_first, cluster_item=table["construction"] + table["item"])


FACETS = (Facet(where="decides"), Facet(["order"]))


def test_a_rate_is_the_mean_of_its_responses_with_their_number():
    table = responses()
    rates = rates_of(with_all(table), FACETS)
    for row in rates.to_dict("records"):
        of_row = table[table["model"] == row["model"]]
        if row["construction"] != ALL:
            of_row = of_row[of_row["construction"] == row["construction"]]
        of_row = of_row[of_row["decides"]] if not row["order"] else of_row[of_row["order"] == row["order"]]
        assert (row["value"], row["n"], row["chance"]) == (of_row["value"].mean(), len(of_row), 0.5)
        assert row["low"] <= row["value"] <= row["high"]
    assert set(rates["construction"]) == {"c1", "c2", ALL}


def test_one_rate_of_a_model_on_a_construction_decides_and_it_is_of_all_responses_that_decide():
    rates = rates_of(responses(), FACETS)
    assert rates.loc[rates["decides"], "order"].tolist() == [""] * 4
    by_order = rates_of(responses(), FACETS[1:])
    assert by_order.loc[by_order["decides"], "order"].tolist() == ["first"] * 4


def test_each_column_that_divides_has_texts_and_none_where_a_rate_is_over_all_its_values():
    table = responses().assign(layer=3)
    facets = [Facet(), Facet(["order"]), Facet(["order", "layer"], steps=True)]
    rates = rates_of(table, facets)
    places = {("", ""), ("first", ""), ("second", ""), ("first", "3"), ("second", "3")}
    assert set(zip(rates["order"], rates["layer"], strict=True)) == places
    for facet in facets:
        of_facet = rates[facet.among(rates)]
        pd.testing.assert_frame_equal(of_facet, divided_by(rates, *facet.columns))
        alone = rates_of(table, [facet])[["model", "value", "n"]]
        pd.testing.assert_frame_equal(of_facet[["model", "value", "n"]].reset_index(drop=True), alone)
