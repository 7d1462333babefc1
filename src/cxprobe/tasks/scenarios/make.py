"""Items: combinations of words in which a model that considers only single words is right as often as wrong."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations, product

import numpy as np
import pandas as pd

from cxprobe.files.tables import write_table
from cxprobe.run.stage import Outcome, Stage
from cxprobe.seeding import generator_for
from cxprobe.stats import CLUSTER
from cxprobe.tasks.scenarios.params import ScenariosStage
from cxprobe.tasks.scenarios.rules import Calibration, Scenarios, WordRow, WordSet, load_scenarios, scenarios_file
from cxprobe.text import render, slots_of

WordRows = tuple[WordRow, ...]  # of one set, in the order of their numbers in slots


Block = tuple[Mapping[str, WordRows], Mapping[str, WordRows]]
"""Set -> the rows of crossed words that the block's items take of it, and set -> those that were drawn."""


def enumerate_items(scenarios: Scenarios, *, share: float, seed: int) -> pd.DataFrame:
    """Return the items: every combination of crossed words, in every order and turn, with the words drawn for it.

    A *block* is one combination with one draw, in all its orders and turns. With k rows of a set of n crossed, n over k
    combinations give blocks of k! items, times 2 to the power of k where rows are turned: for 10 adjective pairs
    by twos with 10 pairs of names, 45 x 10 = 450 blocks of 2 x 4 = 8, so 3,600 items. Within a block each candidate
    is right as often as wrong, and a test that reverses the rule has the texts of the base test of other items.

    Args:
        scenarios: The words and how they are combined.
        share: The share of blocks that is taken, in (0, 1]; whole blocks (at least one), so that every row and every
            combination occurs about as often as any other.
        seed: The project's seed. Which words are drawn for a combination does not depend on the share.

    Returns:
        One row per item: id; a column for each slot with its word; and, for each row of words that it takes,
        cluster_<slot of its first form> with the row's words.

    Source:
        Weissweiler et al. 2022, section 4: 20 adjectives with antonyms, 33 names, 144,800 sentences. Every percentage
        in Tables 4 and 5 is a whole number out of 3,620 items, and 144,800 is 40 times that. 3,620 is (20 x 19 - 18) x
        10: all ordered choices of two of 20 adjectives that are no antonyms, if 18 of them have their antonym among
        the 20, with ten draws of names. Here all 20 have it, so that the choices are 20 x 18. 40 is also the number
        of calibration texts if each of S1 to S4 has five of its own of S6 and of S7.
    """
    blocks = list(_blocks(scenarios, seed))
    order = generator_for(seed, "order of blocks").permutation(len(blocks))
    chosen = _spread([blocks[position] for position in order], max(1, round(share * len(blocks))))
    return pd.DataFrame([_item(scenarios, rows) for block in chosen for rows in _orders_and_turns(scenarios, *block)])


def draw_rows(rows: Sequence[WordRow], count: int, draws: int, generator: np.random.Generator) -> list[WordRows]:
    """Draw ``count`` rows ``draws`` times; no row is drawn twice."""
    positions = generator.permutation(len(rows))[: count * draws].reshape(draws, count)
    return [tuple(rows[position] for position in draw) for draw in positions]


def fill_slots(words: WordSet, number: int, row: WordRow) -> dict[str, str]:
    """Return slot -> word for the row that is an item's ``number``-th of its set."""
    return {f"{form}{number}": word for form, word in zip(words.forms, row, strict=True)}


def _blocks(scenarios: Scenarios, seed: int) -> Iterator[Block]:
    words, items = scenarios.words, scenarios.items
    for combination in product(*(combinations(words[name].rows, count) for name, count in items.cross.items())):
        generator = generator_for(seed, "items", combination)
        draws = [draw_rows(words[name].rows, count, items.draws, generator) for name, count in items.draw.items()]
        crossed = dict(zip(items.cross, combination, strict=True))
        for number in range(items.draws):
            yield crossed, {name: rows[number] for name, rows in zip(items.draw, draws, strict=True)}


def _spread(blocks: Sequence[Block], wanted: int) -> list[Block]:
    """Return the wanted number of blocks, in which every crossed row, then every combination, is about as frequent.

    Greedy: the next block is the one whose rows have been taken least, and among these the one whose combination has.
    """
    keys = [[(name, row) for name, rows in crossed.items() for row in rows] for crossed, _ in blocks]
    known = {key: number for number, key in enumerate(dict.fromkeys(key for block_keys in keys for key in block_keys))}
    rows = np.array([[known[key] for key in block_keys] for block_keys in keys])  # (blocks, rows of a block)
    _, combination = np.unique(rows, axis=0, return_inverse=True)  # (blocks,)
    of_row, of_combination = np.zeros(len(known), dtype=int), np.zeros(combination.max() + 1, dtype=int)
    left = np.ones(len(blocks), dtype=bool)
    chosen = []
    for _ in range(wanted):
        position = int(np.lexsort((of_combination[combination], of_row[rows].sum(axis=1), ~left))[0])
        left[position] = False
        of_row[rows[position]] += 1
        of_combination[combination[position]] += 1
        chosen.append(blocks[position])
    return chosen


def _orders_and_turns(
    scenarios: Scenarios, crossed: Mapping[str, WordRows], drawn: Mapping[str, WordRows]
) -> Iterator[Mapping[str, WordRows]]:
    """Yield the rows of each of a block's items."""
    arranged: list[list[WordRows]] = []
    for name, rows in crossed.items():
        words = scenarios.words[name]
        turns = {row: (row, words.turn(row)) if name == scenarios.turned else (row,) for row in rows}
        arranged.append([taken for order in permutations(rows) for taken in product(*map(turns.__getitem__, order))])
    for taken in product(*arranged):
        yield {**dict(zip(crossed, taken, strict=True)), **drawn}


def _item(scenarios: Scenarios, rows: Mapping[str, WordRows]) -> dict[str, str]:
    slots, clusters, first_words = dict[str, str](), dict[str, str](), list[str]()
    for name, taken in rows.items():
        words = scenarios.words[name]
        for number, row in enumerate(taken, start=1):
            slots |= fill_slots(words, number, row)
            first_words.append(row[0])
            # However a row is turned, it is the same row.
            clusters[f"{CLUSTER}{words.forms[0]}{number}"] = "/".join(sorted({row[0], words.turn(row)[0]}))
    return {"id": " ".join(first_words), **slots, **clusters}


def fill_texts(scenarios: Scenarios, items: pd.DataFrame, *, own_texts: bool, seed: int) -> pd.DataFrame:
    """Return every text of every item, in the tests and in the calibrations.

    Args:
        scenarios: The texts.
        items: What `enumerate_items` returns.
        own_texts: Whether a test is calibrated by texts in its own order and words, where there are such.
        seed: The project's seed. The words that vary in a calibration's text are drawn for its other words, so items
            with the same words, in whatever slots, share the draws, and so do the tests of an item.

    Returns:
        One row per item, scenario and text, in the order of the items: item; scenario, the name of a test or
        calibration; test, which test the calibration's text is for, "" for every test that has none of its own (and
        for the texts of tests); draw, the number of the text in its scenario, from 0; text, with one "[MASK]"; right,
        the candidate that is right, "" for a calibration; and the two candidates, first and second.

    Source:
        Weissweiler et al. 2022, section 4.1.3: five texts "for a given base sample"; ``own_texts`` reads this as five
        for each of S1 to S4.
    """
    first, second = scenarios.candidates
    known: dict[tuple[str, ...], list[str]] = {}
    rows = []
    for id_, *filled in items[["id", *(slots := scenarios.slots_of_items())]].itertuples(index=False, name=None):
        words = dict(zip(slots, filled, strict=True))
        texts = [
            (name, "", number, render(one.text, words), words[one.answer])
            for name, test in scenarios.tests.items()
            for number, one in enumerate(test.texts)
        ]
        for name, calibration in scenarios.calibrations.items():
            varied = {scenarios.row_of(slot) for slot in calibration.vary}
            for test, templates in {"": calibration.texts, **(calibration.by_test if own_texts else {})}.items():
                drawn: list[str] = []
                for base, template in zip(calibration.texts, templates, strict=True):
                    # The slots of the text, and of that of the base test, that have the item's own words.
                    kept, of_base = (
                        {slot: words[slot] for slot in slots_of(text) if scenarios.row_of(slot) not in varied}
                        for text in (template, base)
                    )
                    key = (name, template, *kept.values())
                    if key not in known:
                        generator = generator_for(seed, name, base, *sorted(of_base.values()))
                        draws = _vary(scenarios, calibration, kept, generator)
                        known[key] = [render(template, {**kept, **draw}) for draw in draws]
                    drawn += known[key]
                texts += [(name, test, draw, text, "") for draw, text in enumerate(drawn)]
        rows += [(id_, *text, words[first], words[second]) for text in texts]
    return pd.DataFrame(rows, columns=["item", "scenario", "test", "draw", "text", "right", "first", "second"])


def _vary(
    scenarios: Scenarios, calibration: Calibration, kept: Mapping[str, str], generator: np.random.Generator
) -> list[dict[str, str]]:
    """Return each draw's words for the slots that vary; none of them is in the text already."""
    varied = sorted({scenarios.row_of(slot) for slot in calibration.vary})
    draws: list[dict[str, str]] = [{} for _ in range(calibration.draws)]
    for name in sorted({name for name, _ in varied}):
        words = scenarios.words[name]
        numbers = [number for other, number in varied if other == name]
        left = [row for row in words.rows if not set(row) & set(kept.values())]
        for slots, rows in zip(draws, draw_rows(left, len(numbers), calibration.draws, generator), strict=True):
            for number, row in zip(numbers, rows, strict=True):
                turned = name == scenarios.turned and generator.random() < 0.5
                slots |= fill_slots(words, number, words.turn(row) if turned else row)
    return draws


def make(stage: Stage[ScenariosStage]) -> Outcome:
    """Make the items of every construction, and the texts of their tests and calibrations."""
    params, seed, counts = stage.params.scenarios, stage.params.seed, Counter[str]()
    for name in params.constructions:
        stage.use(scenarios_file(name))
        scenarios = load_scenarios(name)
        items = enumerate_items(scenarios, share=params.make.share, seed=seed)
        texts = fill_texts(scenarios, items, own_texts=params.make.calibrated_by == "own_texts", seed=seed)
        write_table(items, stage.data / name / "items.parquet")
        write_table(texts, stage.data / name / "texts.parquet")
        counts.update(constructions=1, items=len(items), texts=len(texts), distinct_texts=texts["text"].nunique())
    return Outcome(counts=counts)
