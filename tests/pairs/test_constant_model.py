"""A model that finds every token as probable as any other knows nothing: exactly half right, and all of it ties."""

import pytest
import torch
from tiny_lms import save_lm
from tokenizers import Tokenizer
from tokenizers.models import BPE, WordPiece
from tokenizers.pre_tokenizers import BertPreTokenizer, ByteLevel
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer, WordPieceTrainer
from toy_pairs import load_all
from transformers import PreTrainedTokenizerFast

from cxprobe.lm.loading import load_language_model
from cxprobe.lm.params import ModelSpec
from cxprobe.lm.scoring import HowToScore, score_texts
from cxprobe.lm.texts import token_table
from cxprobe.pairs.judge import HowToJudge, judge_answers, pair_tables
from cxprobe.pairs.make import pair_table, render_pairs
from cxprobe.pairs.measure import texts_of_pairs


@pytest.fixture(scope="module")
def pairs():
    """An item of every noun type of every construction."""
    loaded, people = load_all()
    return [pair for name, content in loaded.items() for pair in render_pairs(name, content, people, 1, seed=1)]


def tokenizer_for(kind, texts):
    """Return a tokenizer that cuts words of these texts into pieces, some into more than others."""
    if kind == "bert":
        tokenizer, named = Tokenizer(WordPiece(unk_token="[UNK]")), ("cls", "pad", "sep", "unk", "mask")
        special = {f"{name}_token": f"[{name.upper()}]" for name in named}
        tokenizer.pre_tokenizer = BertPreTokenizer()
        trainer = WordPieceTrainer(vocab_size=500, special_tokens=list(special.values()), show_progress=False)
    else:
        tokenizer, special = Tokenizer(BPE()), {"bos_token": "<s>", "pad_token": "<pad>"}
        tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
        trainer = BpeTrainer(vocab_size=500, special_tokens=list(special.values()), show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    if kind == "bert":
        ends = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
        tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **special)


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_a_constant_model_is_half_right_on_every_construction_and_all_ties(tmp_path, pairs, kind):
    save_lm(
        tmp_path, kind, tokenizer_for(kind, [pair.context + end for pair in pairs for end in (pair.good, pair.bad)])
    )
    spec = ModelSpec(name=str(tmp_path), revision=None, sha256=None, dtype="float32")
    model = load_language_model("constant", spec)
    with torch.no_grad():
        for parameter in model.model.parameters():
            parameter.zero_()
    how = HowToScore(schemes=["pll"], bos="add", token_budget=4096)
    answers = token_table(score_texts(model, [texts_of_pairs(model, pairs, how.bos)], how))
    every = ["per_token", "sum", "given_context", "pmi"]
    judged = judge_answers(pair_table(pairs), answers, HowToJudge("own", "pll", "per_token", every))
    assert len(judged.items) == len(pairs)
    tables = pair_tables(judged, [])
    assert (tables["cells"]["accuracy"] == 0.5).all()
    assert (tables["cells"]["tie_rate"] == 1).all()
    biases = tables["biases"]
    assert set(biases["compares"]) == {"order", "variant"}
    assert (biases["bias"] == 0).all()
    # Members of unequally many tokens do not tie in their sums; those of equally many tie under every score.
    margins = judged.scores.pivot_table(index="id", columns="score", values="margin")
    alike = margins["sum"] == 0
    assert 0 < alike.mean() < 1
    assert (margins.loc[alike, ["given_context", "pmi"]].dropna() == 0).all(axis=None)
