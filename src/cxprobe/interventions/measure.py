"""Exchange vectors between base and source sentences, layer by layer, and record what the model answers then."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from cxprobe.errors import DataError
from cxprobe.interventions.directions import (
    Exchange,
    Matrix,
    along,
    difference_of_means,
    direction_of_probe,
    erase_label,
    random_direction,
)
from cxprobe.interventions.names import CONTROL, DAS, ERASE, FRAME_OF_ITEM, MEANS, PROBE, RANDOM, TRAIN, TRUE, WHOLE
from cxprobe.interventions.params import MeasureInterventions
from cxprobe.lm.intervening import (
    AT_ANSWER,
    BlockOutput,
    Edits,
    Sentence,
    SentenceTokens,
    answers_after,
    answers_in_batches,
    block_output,
    tokens_of_sentence,
)
from cxprobe.lm.language_models import LoadedModel
from cxprobe.probing import Fitting
from cxprobe.seeding import generator_for
from cxprobe.stats import credits_of_margins

_BATCH, _RATE, _WARM_UP = 4, 5e-3, 0.1  # of DAS, as in CausalGym
_FEWEST = 8  # items that train, and items that test


class PromptedItems(NamedTuple):
    """The items that a model can be asked; all lists have one entry an item.

    Attributes:
        items: The rows of `draw_base_and_source`, numbered anew.
        base: The base sentences.
        source: The source sentences.
        targets: Shape (items, 4): the tokens of the answers of base and source, and of the control words of both.
        dropped: How many items were left out, since one token does not tell their answers apart.
    """

    items: pd.DataFrame
    base: list[SentenceTokens]
    source: list[SentenceTokens]
    targets: Tensor
    dropped: int

    @property
    def regions(self) -> list[str]:
        """The names of the regions."""
        return [*self.items["regions"].iloc[0], AT_ANSWER][: len(self.base[0].regions)]

    @property
    def is_train(self) -> NDArray[np.bool_]:
        """Which items find directions; the others evaluate them."""
        return (self.items["part"] == TRAIN).to_numpy(dtype=bool)


def prompt_items(model: LoadedModel, items: pd.DataFrame, seed: int, place: str) -> PromptedItems:
    """Tokenise items, and leave out those whose answers one token does not tell apart.

    Control words are two tokens of the sentences that are no answers, drawn by the seed, one for each label: a
    direction that makes a model say them carries what it is trained to carry, and nothing that the model knows.

    Args:
        model: The model; its weights are not needed here.
        items: Of one construction.
        seed: The project's seed.
        place: The model and the construction, for messages.

    Raises:
        DataError: Fewer than eight items are left in a part.
    """
    base, source, kept = list[SentenceTokens](), list[SentenceTokens](), list[int]()
    for number, row in enumerate(items.to_dict("records")):
        answers = (str(row["base_answer"]), str(row["source_answer"]))
        both = [
            tokens_of_sentence(
                model, Sentence(row[f"{side}_before"], row[f"{side}_ends"], answers, row[f"{side}_after"])
            )
            for side in ("base", "source")
        ]
        if both[0] is not None and both[1] is not None and both[0].targets == both[1].targets:
            base.append(both[0])
            source.append(both[1])
            kept.append(number)
    asked = items.iloc[kept].reset_index(drop=True)
    for part, total in items["part"].value_counts(sort=False).items():
        if (left := int((asked["part"] == part).sum())) < _FEWEST:
            raise DataError(
                f"{place}: {left} of {total} items are left in the part '{part}', since one token does not tell the "
                f"answers of the others apart in this model's tokenizer, and {_FEWEST} are needed; raise "
                f"interventions.make.{part}, or take the model or the construction out"
            )
    answers_of = {token for prompt in base for token in prompt.targets}
    special = {*model.tokenizer.all_special_ids}
    words = sorted({int(token) for prompt in base for token in prompt.ids} - answers_of - special)
    drawn = generator_for(seed, "control words", str(items["construction"].iloc[0])).permutation(words)[:2].tolist()
    control = dict(zip(sorted({*items["base"]}), drawn, strict=True))
    targets = [
        [*prompt.targets, control[row["base"]], control[row["source"]]]
        for prompt, row in zip(base, asked.to_dict("records"), strict=True)
    ]
    return PromptedItems(asked, base, source, torch.tensor(targets), len(items) - len(kept))


def spaced_layers(blocks: int, layers: int | None) -> list[int]:
    """Return the numbers of evenly spaced layers, from 1; the last one is the last block's output."""
    number = min(layers or blocks, blocks)
    return [round(blocks * (step + 1) / number) for step in range(number)]


def measure_layer(
    model: LoadedModel, asked: PromptedItems, layer: int, settings: MeasureInterventions, fitting: Fitting
) -> pd.DataFrame:
    """Find directions by the training items, and exchange the vectors of the test items along them.

    Args:
        model: The model.
        asked: The items.
        layer: From 1.
        settings: The section measure of params.yaml.
        fitting: Of the probes; all draws follow from its seed.

    Returns:
        One row a test item, region, intervention and kind of labels: id, sentence, cluster_frame, layer, region,
        intervention, labels, before (log p of the base's answer less that of the source's, of the base as it is), after
        (log p of the source's answer less that of the base's, after the intervention; a mean over random directions)
        and changed (`is_changed`, likewise). `cxprobe.interventions.names` has the names.
    """
    budget, rng, parts = settings.token_budget, generator_for(fitting.seed, "random directions", layer), []
    train, test = np.flatnonzero(asked.is_train), np.flatnonzero(~asked.is_train)
    output, *vectors = exchanged_vectors(model, asked, layer, budget)
    das = train_das(model, asked, output, vectors[0], vectors[1], settings.steps, fitting.seed)
    base, source = (side.double().numpy() for side in vectors)  # (items, regions, dimensions)
    positive = (asked.items["base"] == min(asked.items["base"])).to_numpy(dtype=bool)
    labels = np.concatenate([positive[train], ~positive[train]])
    of_test = [asked.base[item] for item in test]
    as_it_is = answers_in_batches(model, of_test, asked.targets[test], budget)  # (test items, 4)
    before = as_it_is[:, [0, 2]] - as_it_is[:, [1, 3]]  # (test items, kinds of labels)
    for number, region in enumerate(asked.regions):
        b, s = base[:, number], source[:, number]  # (items, dimensions)
        trained = np.concatenate([b[train], s[train]])
        exchanges: dict[tuple[str, str], list[Exchange | None]] = {
            (WHOLE, ""): [None],
            (DAS, TRUE): [along(das[0, number])],
            (DAS, CONTROL): [along(das[1, number])],
            (MEANS, ""): [difference_of_means(trained, labels)],
            (PROBE, ""): [direction_of_probe(trained, labels, fitting.of(f"layer {layer}, {region}"))],
            (ERASE, ""): [erase_label(trained, labels)],
            (RANDOM, ""): [random_direction(b.shape[1], rng) for _ in range(settings.draws)],
        }
        written = [
            s[test] if exchange is None else exchange.apply(b[test], s[test])
            for drawn in exchanges.values()
            for exchange in drawn
        ]
        times, columns = len(written), torch.tensor([prompt.regions[number] for prompt in of_test])
        vectors_of_all = torch.from_numpy(np.concatenate(written)).float()
        edits = Edits(output, torch.from_numpy(np.tile(test, times)), columns.repeat(times), vectors_of_all)
        answered = answers_in_batches(model, of_test * times, asked.targets[test].repeat(times, 1), budget, edits)
        answered = answered.reshape(times, len(test), 4)
        after = answered[..., [1, 3]] - answered[..., [0, 2]]  # (times, test items, kinds of labels)
        for (name, only), drawn in exchanges.items():
            of_draws, after = after[: len(drawn)], after[len(drawn) :]
            for column, kind in enumerate((TRUE, CONTROL)):
                if only in ("", kind):
                    margins = before[:, column], of_draws[..., column]
                    part = asked.items.loc[test, ["id", "sentence", FRAME_OF_ITEM]]
                    part = part.assign(layer=layer, region=region, intervention=name, labels=kind)
                    changed = np.mean([is_changed(margins[0], draw) for draw in margins[1]], axis=0)
                    parts.append(part.assign(before=margins[0], after=margins[1].mean(axis=0), changed=changed))
    return pd.concat(parts, ignore_index=True)


def exchanged_vectors(
    model: LoadedModel, asked: PromptedItems, layer: int, token_budget: int
) -> tuple[BlockOutput, Tensor, Tensor]:
    """Return a layer's output for the base sentences, and the vectors of all regions of the base and of the source.

    Args:
        model: The model.
        asked: The items.
        layer: From 1.
        token_budget: The most tokens in a batch.

    Returns:
        The output, and shape (items, regions, dimensions) twice.
    """
    outputs = [block_output(model, side, layer - 1, token_budget) for side in (asked.base, asked.source)]
    columns = [torch.tensor([prompt.regions for prompt in side]) for side in (asked.base, asked.source)]
    return outputs[0], outputs[0].at(columns[0]), outputs[1].at(columns[1])


def is_changed(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 where a model prefers another answer than before, 0 where it does not, and 0.5 next to a tie.

    Args:
        before: Shape (items,): the base's answer less the source's.
        after: Shape (items,): the source's answer less the base's.
    """
    first, second = credits_of_margins(before), credits_of_margins(after)
    return first * second + (1 - first) * (1 - second)


def train_das(
    model: LoadedModel, asked: PromptedItems, output: BlockOutput, base: Tensor, source: Tensor, steps: int, seed: int
) -> Matrix:
    """Find the direction of each region along which an exchange makes the source's answer most probable: rank-1 DAS.

    All directions of a layer are trained at once, and none sees another: a batch has the same items once for each.

    Args:
        model: The model, whose weights stay as they are.
        asked: The items; those that train are used.
        output: See `exchanged_vectors`; so are base and source.
        base: Shape (items, regions, dimensions).
        source: Likewise.
        steps: How many steps of 4 items; every item is used once before any is used again.
        seed: Of the first directions and of the order of items.

    Returns:
        Shape (2, regions, dimensions): trained on the source's answers, and on its control words.

    Source:
        Geiger et al. 2024 for DAS. Arora et al. 2024 for rank 1 and how it is trained: 100 steps, one epoch of
        400 items, Adam, 5e-3, linear warm-up in the first tenth of the steps, cross-entropy on the source's answer.
    """
    model.model.requires_grad_(False)
    regions, rng = base.shape[1], generator_for(seed, "das", output.block)
    first = rng.standard_normal((2, regions, base.shape[2]))
    first /= np.linalg.norm(first, axis=-1, keepdims=True)
    free = torch.tensor(first, dtype=torch.float32, requires_grad=True)
    train = np.flatnonzero(asked.is_train)
    rounds = [rng.permutation(train) for _ in range(-(-steps * _BATCH // len(train)))]
    batches = np.concatenate(rounds)[: steps * _BATCH].reshape(steps, _BATCH)
    optimiser = torch.optim.Adam([free], lr=_RATE)
    warm_up = max(1, round(_WARM_UP * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1.0, (step + 1) / warm_up))
    for items in batches:
        item, kind, region = (grid.ravel() for grid in np.meshgrid(items, range(2), range(regions), indexing="ij"))
        b, s = base[item, region], source[item, region]  # (rows, dimensions)
        unit = (free / free.norm(dim=-1, keepdim=True))[kind, region]  # (rows, dimensions)
        written = b + ((s - b) * unit).sum(dim=-1, keepdim=True) * unit
        prompts = [asked.base[number] for number in item]
        columns = torch.tensor([prompt.regions[number] for prompt, number in zip(prompts, region, strict=True)])
        targets = asked.targets[item, 1 + 2 * kind].unsqueeze(1)  # (rows, 1)
        edits = Edits(output, torch.from_numpy(item), columns, written)
        loss = -answers_after(model, prompts, targets, edits).sum() / len(items)
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()
        schedule.step()
    found: Matrix = free.detach().double().numpy()
    return found
