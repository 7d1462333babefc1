"""Vectors that are exchanged between base and source sentences, layer by layer, and what the model answers then.

The layers of a model are divided among processes, kept, and found again when a stage runs anew.

Exchanges are functions of arrays. A vector b of the base sentence becomes ``b + ((s - b) . u) u``, where s is the
vector of the source sentence and u a direction along which two labels differ. An erasure takes the mean of the base
vectors for s, so that on sentences of another kind it takes out what differs among these, and does not move them all.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf
from torch import Tensor

from cxprobe.errors import DataError
from cxprobe.files.code import computing_code
from cxprobe.files.tables import kept_table, read_table, write_table
from cxprobe.files.writing import SCRATCH, project_folder, scratch_folder
from cxprobe.models.intervening import (
    AT_ANSWER,
    BlockOutput,
    Edits,
    SentenceTokens,
    answers_after,
    block_output,
    blocks_of,
    tokens_of_sentence,
)
from cxprobe.models.loading import LoadedModel
from cxprobe.models.measuring import MeasuredModel
from cxprobe.models.pairs import load_language_model
from cxprobe.models.params import Member
from cxprobe.probing import Fitting, fit_probe
from cxprobe.run.progress import progress
from cxprobe.run.record import write_model_facts
from cxprobe.run.stage import Stage
from cxprobe.seeding import generator_for
from cxprobe.stats import credits_of_margins
from cxprobe.tasks.interventions import params as names
from cxprobe.tasks.interventions.params import InterventionsStage, MeasureInterventions

Matrix = NDArray[np.float64]
_BATCH, _RATE, _WARM_UP = 4, 5e-3, 0.1  # of DAS, as in CausalGym
_DAS_BY_CONTROL = "das_by_control"  # the direction that DAS finds for the control words
_FEWEST = 8  # items that train, and items that test


Exchange = Callable[[Matrix, Matrix], Matrix]
"""Returns the changed base vectors, given those of the base and of the source; all of shape (n, dimensions)."""
Exchanges = Mapping[str, list[Exchange]]
"""Intervention, or `_DAS_BY_CONTROL` -> its exchanges, one a draw."""


def along(direction: Matrix) -> Exchange:
    """Return the exchange along a direction of any length; nothing is exchanged along 0."""
    unit = direction / max(float(np.linalg.norm(direction)), np.finfo(np.float64).tiny)
    return lambda base, source: base + ((source - base) @ unit)[:, None] * unit


def erase_label(vectors: Matrix, labels: NDArray[np.bool_]) -> Exchange:
    """Return the smallest change of vectors after which no linear probe finds the label: LEACE.

    With the covariance d of vectors and label and the covariance matrix C of the vectors, x becomes
    ``x - d (w . (x - mean)) / (w . d)`` with ``w = C^-1 d``. Then vectors and label have no covariance. C is shrunk
    (Ledoit & Wolf 2004), since there are often fewer vectors than dimensions; the covariance is 0 with any w.

    Args:
        vectors: Shape (n, dimensions).
        labels: Shape (n,).

    Source:
        Belrose et al. 2023, Theorem 4.3, for one label.
    """
    centred = vectors - vectors.mean(axis=0)
    covariance = centred.T @ (labels - labels.mean()) / len(labels)  # (dimensions,)
    shrunk = ledoit_wolf(vectors)[0]
    shrunk += np.eye(len(shrunk)) * max(1e-9 * np.trace(shrunk) / len(shrunk), 1e-30)  # vectors may repeat one another
    whitened = np.linalg.solve(shrunk, covariance)  # (dimensions,)
    read = whitened / max(float(whitened @ covariance), np.finfo(np.float64).tiny)
    return lambda base, _source: base + ((base.mean(axis=0) - base) @ read)[:, None] * covariance


class PromptedItems(NamedTuple):
    """The items that a model can be asked; all lists have one entry an item.

    Attributes:
        items: The rows of `cxprobe.tasks.interventions.make.draw_base_and_source`, numbered anew.
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
        return (self.items["part"] == names.TRAIN).to_numpy(dtype=bool)


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
        answers = (row["base_answer"], row["source_answer"])
        first, second = (
            tokens_of_sentence(model, row[f"{side}_before"], row[f"{side}_ends"], answers, row[f"{side}_after"])
            for side in ("base", "source")
        )
        if first and second and first.targets == second.targets:
            base.append(first)
            source.append(second)
            kept.append(number)
    asked = items.iloc[kept].reset_index(drop=True)
    for part, total in items["part"].value_counts(sort=False).items():
        left = (asked["part"] == part).sum()
        if left < _FEWEST:
            raise DataError(
                f"{place}: {left} of {total} items are left in the part '{part}', since one token does not tell the "
                f"answers of the others apart in this model's tokenizer, and {_FEWEST} are needed; raise "
                f"interventions.make.{part}, or take the model or the construction out"
            )
    answers_of = {token for prompt in base for token in prompt.targets}
    special = {*model.tokenizer.all_special_ids}
    words = sorted({int(token) for prompt in base for token in prompt.ids} - answers_of - special)
    drawn = generator_for(seed, "control words", str(items["construction"].iloc[0])).permutation(words)[:2].tolist()
    control = dict(zip(sorted({*items["base"]}), drawn, strict=True))  # label -> its control word
    targets = [
        [*prompt.targets, control[label], control[other]]
        for prompt, label, other in zip(base, asked["base"], asked["source"], strict=True)
    ]
    return PromptedItems(asked, base, source, torch.tensor(targets), len(items) - len(kept))


def spaced_layers(blocks: int, layers: int | None) -> list[int]:
    """Return the numbers of evenly spaced layers, from 1; the last one is the last block's output."""
    number = min(layers or blocks, blocks)
    return [round(blocks * (step + 1) / number) for step in range(number)]


class ReadLayer(NamedTuple):
    """What a layer makes of the items of a construction.

    Attributes:
        asked: The items.
        output: Its output for the base sentences.
        base: Shape (items, regions, dimensions): the vectors of the base sentences.
        source: Those of the source sentences.
    """

    asked: PromptedItems
    output: BlockOutput
    base: Tensor
    source: Tensor


def measure_layer(
    model: LoadedModel, asked: Mapping[str, PromptedItems], layer: int, settings: MeasureInterventions, fitting: Fitting
) -> pd.DataFrame:
    """Find directions by the training items, and exchange the vectors of the test items along them.

    What is found on one construction is tried at all its regions, on every other construction and on neutral sentences
    at the first region and the last one: where the label stands, and where the answer is predicted.

    Args:
        model: The model.
        asked: Construction, or `names.NEUTRAL` -> its items.
        layer: From 1.
        settings: The section measure of params.yaml.
        fitting: Of the probes; all draws follow from its seed.

    Returns:
        One row a test item, region, intervention and kind of labels: construction, learnt (the construction whose items
        found the direction), id, sentence, cluster_frame, layer, region, intervention, labels, before (log p of the
        base's answer less that of the source's, of the base as it is), after (log p of the source's answer less that of
        the base's, after the intervention; a mean over random directions), changed (`is_changed`, likewise), and
        readable (see `find_exchanges`; NaN for other constructions). In neutral sentences, which have one right answer,
        before is its log p, and after is that after the intervention, with the sign turned.
        `cxprobe.tasks.interventions.params` has the names.
    """
    budget, parts = settings.token_budget, list[pd.DataFrame]()
    read = {name: read_layer(model, of, layer, budget) for name, of in asked.items()}
    found = {
        name: find_exchanges(model, of, settings, fitting.of(f"{name}, layer {layer}"))
        for name, of in read.items()
        if of.asked.is_train.any()
    }
    for name, of in asked.items():
        test, last = np.flatnonzero(~of.is_train), len(of.regions) - 1
        as_it_is = answers_after(model, [of.base[item] for item in test], of.targets[test], token_budget=budget)
        before = _margins(as_it_is, name)  # (test items, kinds of labels)
        rows = of.items.loc[test, ["id", "sentence", names.FRAME_OF_ITEM]].assign(construction=name, layer=layer)
        for learnt, by_region in found.items():
            for number in range(last + 1) if learnt == name else sorted({0, last}):
                at, readable = by_region[-1 if number == last else number]
                tried = _tried_on(name, learnt)
                exchanges = {key: at[key] for _, _, key in tried}
                answered = answers_exchanged(model, read[name], test, number, exchanges, budget)
                for intervention, kind, key in tried:
                    column = int(kind == names.CONTROL)
                    after = -_margins(answered[key], name)[..., column]  # (draws, test items)
                    changed = np.mean([is_changed(before[:, column], draw) for draw in after], axis=0)
                    place = {"learnt": learnt, "region": of.regions[number], "intervention": intervention}
                    numbers = {"before": before[:, column], "after": after.mean(axis=0), "changed": changed}
                    numbers["readable"] = readable if learnt == name else np.nan
                    parts.append(rows.assign(**place, labels=kind, **numbers))
    return pd.concat(parts, ignore_index=True)


def _tried_on(construction: str, learnt: str) -> list[tuple[str, str, str]]:
    """Return what is tried on a construction: intervention, kind of labels, and the key of its exchanges."""
    if construction not in (learnt, names.NEUTRAL):
        return [(name, names.TRUE, name) for name in names.TRANSFERRED]
    tried = [(name, names.TRUE, name) for name in names.INTERVENTIONS]
    if construction == learnt:
        tried += [(name, names.CONTROL, _DAS_BY_CONTROL if name == names.DAS else name) for name in names.INTERVENTIONS]
    return tried


def _margins(answered: Tensor, name: str) -> Matrix:
    """Return log p of the base's answer less that of the source's, (..., 2): of the answers, and of control words."""
    log_p: Matrix = answered.double().numpy()
    return log_p[..., [0, 2]] - (0 if name == names.NEUTRAL else log_p[..., [1, 3]])


def answers_exchanged(
    model: LoadedModel, read: ReadLayer, test: NDArray[np.int64], region: int, exchanges: Exchanges, budget: int
) -> dict[str, Tensor]:
    """Return the log-probabilities of the targets of test items after exchanges at a region: key -> (draws, n, 4)."""
    base, source = (side[test, region].double().numpy() for side in (read.base, read.source))  # (n, dimensions)
    written = [exchange(base, source) for drawn in exchanges.values() for exchange in drawn]
    times = len(written)
    prompts = [read.asked.base[item] for item in test]
    columns = torch.tensor([prompt.regions[region] for prompt in prompts]).repeat(times)
    vectors = torch.from_numpy(np.concatenate(written)).float()
    edits = Edits(read.output, torch.from_numpy(np.tile(test, times)), columns, vectors)
    answered = answers_after(model, prompts * times, read.asked.targets[test].repeat(times, 1), edits, budget)
    draws = [len(drawn) for drawn in exchanges.values()]
    return dict(zip(exchanges, torch.split(answered.reshape(times, len(test), 4), draws), strict=True))


def read_layer(model: LoadedModel, asked: PromptedItems, layer: int, token_budget: int) -> ReadLayer:
    """Return the output and the vectors of a layer, from 1; a batch has at most so many tokens."""
    outputs, vectors = list[BlockOutput](), list[Tensor]()
    for prompts in (asked.base, asked.source):
        outputs.append(block_output(model, prompts, layer - 1, token_budget))
        vectors.append(outputs[-1].at(torch.tensor([prompt.regions for prompt in prompts])))
    return ReadLayer(asked, outputs[0], *vectors)


def find_exchanges(
    model: LoadedModel, read: ReadLayer, settings: MeasureInterventions, fitting: Fitting
) -> list[tuple[Exchanges, Matrix]]:
    """Return what the training items give at each region; see `measure_layer` for the arguments.

    Returns:
        For each region: the exchanges; and readable, shape (test items,): the share of an item's two vectors whose
        label the probe finds.
    """
    rng, asked = generator_for(fitting.seed, "random directions", read.output.block + 1), read.asked
    das = train_das(model, read, settings.steps, fitting.seed)
    positive = (asked.items["base"] == min(asked.items["base"])).to_numpy(dtype=bool)
    parts = (asked.is_train, ~asked.is_train)
    labels, held_out = (np.concatenate([positive[part], ~positive[part]]) for part in parts)
    found = []
    for number, region in enumerate(asked.regions):
        sides = [side[:, number].double().numpy() for side in (read.base, read.source)]  # (items, dimensions) each
        vectors, others = (np.concatenate([side[part] for side in sides]) for part in parts)
        probe = fit_probe(vectors, labels, fitting.of(region))
        right = credits_of_margins(np.where(held_out, 1, -1) * probe.decision_function(others))
        exchanges: Exchanges = {
            names.WHOLE: [lambda _base, source: source],
            names.DAS: [along(das[0, number])],
            _DAS_BY_CONTROL: [along(das[1, number])],
            names.MEANS: [along(vectors[labels].mean(axis=0) - vectors[~labels].mean(axis=0))],
            names.PROBE: [along(probe[-1].coef_[0])],
            names.ERASE: [erase_label(vectors, labels)],
            names.RANDOM: [along(rng.standard_normal(vectors.shape[1:])) for _ in range(settings.draws)],
        }
        found.append((exchanges, right.reshape(2, -1).mean(axis=0)))
    return found


def is_changed(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 where a model prefers another answer than before, 0 where it does not, and 0.5 next to a tie.

    Args:
        before: Shape (items,): the base's answer less the source's.
        after: Shape (items,): the source's answer less the base's.
    """
    first, second = credits_of_margins(before), credits_of_margins(after)
    return first * second + (1 - first) * (1 - second)


def train_das(model: LoadedModel, read: ReadLayer, steps: int, seed: int) -> Matrix:
    """Find the direction of each region along which an exchange makes the source's answer most probable: rank-1 DAS.

    All directions of a layer are trained at once, and none sees another.

    Args:
        model: The model, whose weights stay as they are.
        read: What the layer makes of the items; those that train are used.
        steps: How many steps of 4 items; every item is used once before any is used again.
        seed: Of the first directions and of the order of items.

    Returns:
        Shape (2, regions, dimensions): trained on the source's answers, and on its control words.

    Source:
        Geiger et al. 2024 for DAS. Arora et al. 2024 for rank 1 and how it is trained: 100 steps, one epoch of
        400 items, Adam, 5e-3, cross-entropy on the source's answer. Their code (train.py) has the schedule: linear
        warm-up in the first tenth of the steps, then linear decay to 0.
    """
    model.model.requires_grad_(False)
    asked = read.asked
    rng, (_, regions, dimensions) = generator_for(seed, "das", read.output.block), read.base.shape
    first = rng.standard_normal((2, regions, dimensions))
    first /= np.linalg.norm(first, axis=-1, keepdims=True)
    free = torch.tensor(first, dtype=torch.float32, requires_grad=True)
    train = np.flatnonzero(asked.is_train)
    rounds = [rng.permutation(train) for _ in range(-(-steps * _BATCH // len(train)))]
    batches = np.concatenate(rounds)[: steps * _BATCH].reshape(steps, _BATCH)
    rising = max(1, round(_WARM_UP * steps))
    falling = max(1, steps - rising)
    optimiser = torch.optim.Adam([free], lr=_RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda n: min(n / rising, max(0, steps - n) / falling))
    for items in batches:
        optimiser.zero_grad()
        item, kind = (grid.ravel() for grid in np.meshgrid(items, range(2), indexing="ij"))
        prompts, targets = [asked.base[number] for number in item], asked.targets[item, 1 + 2 * kind].unsqueeze(1)
        for region in range(regions):
            b, s = read.base[item, region], read.source[item, region]  # (rows, dimensions)
            unit = (free / free.norm(dim=-1, keepdim=True))[kind, region]  # (rows, dimensions)
            written = b + ((s - b) * unit).sum(dim=-1, keepdim=True) * unit
            columns = torch.tensor([prompt.regions[region] for prompt in prompts])
            edits = Edits(read.output, torch.from_numpy(item), columns, written)
            torch.autograd.backward(-answers_after(model, prompts, targets, edits).sum() / len(items))
        optimiser.step()
        schedule.step()
    found: Matrix = free.detach().double().numpy()
    return found


def measure(stage: Stage[InterventionsStage], member: Member) -> dict[str, float] | None:
    """Measure a model on all constructions; write ``effects.parquet``, ``transfer.parquet`` and ``model.json``.

    The files have what `measure_layer` returns: of what was learnt on the construction itself, and of all else.

    Returns:
        The numbers of items that were asked and left out, and see `MeasuredModel.check`. None if this process writes no
        files.
    """
    settings, seed = stage.params.interventions.measure, stage.params.seed
    items = read_table(stage.use(names.MADE_ITEMS))
    made = {str(name): table for name, table in items.groupby("construction", sort=False)}
    model = MeasuredModel.of(stage, member.slug, member.spec, load_language_model)
    kept, described, processes = project_folder() / SCRATCH / "interventions", model.described, model.processes
    asked = {name: prompt_items(described, of, seed, f"models.{model.slug}, {name}") for name, of in made.items()}
    code = computing_code(__name__, "cxprobe.models.intervening")
    decisive = (described.fingerprint, described.decisive, code, settings, seed, processes.kind_of_device)
    every = pd.concat(made.values()).to_csv()
    work = {
        layer: scratch_folder(kept, *decisive, every, layer) / "effects.table"
        for layer in spaced_layers(len(blocks_of(described)), settings.layers)
    }

    def effects_of(layer: int) -> pd.DataFrame:
        table = kept_table(work[layer])
        if table is None:
            fitting = Fitting(1.0, False, 1000, seed, model.what)
            table = measure_layer(model.loaded, asked, layer, settings, fitting)
            write_table(table, work[layer], optional=table.columns)
        return table

    checked = model.check([text for items in made.values() for text in items["base_before"]])
    with progress(len(work), "layers", model.what, kept=f"kept in {kept}") as shown:
        for number, layer in enumerate(work):
            if processes.has(number):
                effects_of(layer)
                shown.update(1)
    processes.wait()
    if processes.number:
        return None
    effects, folder = pd.concat([effects_of(layer) for layer in work], ignore_index=True), stage.data / member.inside
    is_own = effects["learnt"] == effects["construction"]
    write_table(effects[is_own], folder / names.EFFECTS_FILE)
    write_table(effects[~is_own].drop(columns="readable"), folder / names.TRANSFER_FILE)
    write_model_facts(model.facts, folder)
    counts = {"items": sum(len(of.items) for of in asked.values())}
    return counts | {"dropped_items": sum(of.dropped for of in asked.values())} | checked
