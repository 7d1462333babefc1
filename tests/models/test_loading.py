"""Load models: what is loaded, what is refused, in which precision, and what their load hands to transformers."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from huggingface_hub import constants
from model_folders import change, drop_weights, refusal, rewrite, save_sound, spec
from safetensors.torch import load_file
from scored import causal_token_scores, log_probs_of, vectors_of
from tiny_lms import CAUSAL, MASKED, save_lm, sentences_that_begin_alike, tokenizer_of
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import Whitespace
from transformers import AutoModel, AutoModelForMaskedLM, PreTrainedTokenizerFast, T5Config, T5EncoderModel, T5Model
from transformers.models.bert.modeling_bert import BertLayer

from conftest import ROOT
from cxprobe.errors import ModelError
from cxprobe.models import loading
from cxprobe.models.embedding import encoder_of, load_encoder
from cxprobe.models.intervening import SentenceTokens, answers_after, block_output, tokens_of_sentence
from cxprobe.models.loading import are_alike, open_source
from cxprobe.models.masked import load_masked_lm
from cxprobe.models.measuring import MeasuredModel
from cxprobe.models.pairs import load_language_model, score_texts
from cxprobe.models.store import answers_folder
from cxprobe.models.texts import ScoringConfig
from cxprobe.run.record import ModelFacts


@pytest.fixture
def bert(tmp_path):
    return save_sound(tmp_path, "bert")


# What is loaded


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", [*MASKED, *CAUSAL])
def test_a_model_loads_in_eval_mode_with_the_head_of_its_checkpoint_in_the_precision_asked_for(tmp_path, kind, dtype):
    save_lm(tmp_path, kind)
    if "deberta" in kind:
        config = json.loads((tmp_path / "config.json").read_text())
        del config["legacy"]  # as in the checkpoints of DeBERTa's authors
        (tmp_path / "config.json").write_text(json.dumps(config))
    if kind == "deberta":  # its attention multiplies by numbers in float32 (transformers 5.23)
        dtype = torch.float32
    model = load_language_model(open_source("tiny", spec(tmp_path, dtype=str(dtype).removeprefix("torch.")))).model
    stored, loaded = load_file(tmp_path / "model.safetensors"), model.state_dict()
    assert all(torch.equal(loaded[name].to(dtype), value.to(dtype)) for name, value in stored.items())
    assert not model.training
    assert model.dtype == dtype


@pytest.mark.parametrize("kind", [*MASKED, *CAUSAL])
def test_an_encoder_is_read_from_the_checkpoint_of_a_language_model(tmp_path, kind, capfd):
    save_lm(tmp_path, kind)
    capfd.readouterr()
    loaded = load_encoder(open_source("tiny", spec(tmp_path))).model.state_dict()
    assert capfd.readouterr() == ("", "")  # such as of the pooler, which a masked model has not
    plain = AutoModel.from_pretrained(tmp_path).state_dict()
    assert loaded.keys() == plain.keys()
    assert all(torch.equal(value, plain[name]) for name, value in loaded.items() if "pooler" not in name)


@pytest.mark.parametrize(
    ("kind", "load"), [("masked", load_masked_lm), ("causal", load_language_model), ("encoder", load_encoder)]
)
def test_the_facts_of_a_model_are_its_name_kind_weights_and_number_of_parameters(tmp_path, kind, load):
    save_lm(tmp_path, "bert" if kind == "masked" else "gpt2")
    model = load(open_source("tiny", spec(tmp_path)))
    stored = load_file(tmp_path / "model.safetensors")
    # Shared weights are stored once; an encoder has no head, and that of GPT-2 is its embeddings.
    expected = sum(weights.numel() for weights in stored.values())
    assert model.facts == ModelFacts(
        str(tmp_path), kind, expected, model.fingerprint, precision="float32", attention="sdpa"
    )


# Models of the hub, and models that are not there


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A cache of the hub, without network, that has the model team/tiny; the commits of its two versions."""
    commits = {"main": "a" * 40, "step-2": "b" * 40}
    folder = tmp_path / "models--team--tiny"
    (folder / "refs").mkdir(parents=True)
    for revision, commit in commits.items():
        (folder / "refs" / revision).write_text(commit)
        save_lm(folder / "snapshots" / commit, "bert")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return commits


@pytest.mark.parametrize("revision", [None, "step-2", "b" * 40])
def test_a_model_of_the_hub_is_known_by_the_commit_that_its_revision_resolves_to(hub, revision):
    commit = hub.get(revision or "main", revision)
    assert load_masked_lm(open_source("tiny", spec("team/tiny", revision=revision))).fingerprint == f"commit {commit}"
    random_control = load_masked_lm(open_source("tiny", spec("team/tiny", revision=revision, weights="random", seed=3)))
    assert random_control.fingerprint.startswith(f"random, seed 3, of commit {commit}, drawn by ")


def test_the_weights_are_of_the_commit_of_the_configuration_though_the_branch_moves(hub, tmp_path, monkeypatch):
    folder, read = tmp_path / "models--team--tiny", loading.cached_file
    rewrite(folder / "snapshots" / hub["step-2"], lambda weights: weights["cls.predictions.bias"].add_(1))

    def read_and_move(*args, **options):
        found = read(*args, **options)
        (folder / "refs" / "main").write_text(hub["step-2"])
        return found

    monkeypatch.setattr(loading, "cached_file", read_and_move)
    model = load_masked_lm(open_source("tiny", spec("team/tiny")))
    assert model.fingerprint == f"commit {hub['main']}"
    stored = load_file(folder / "snapshots" / hub["main"] / "model.safetensors")
    assert torch.equal(model.model.state_dict()["cls.predictions.bias"], stored["cls.predictions.bias"])


def test_a_model_that_is_not_there_says_what_to_do_offline_and_online(tmp_path):
    message = refusal(load_encoder, tmp_path / "gone")
    assert "Online: `hf download" in message
    assert "Offline: copy the model's folder" in message
    with pytest.raises(ModelError, match="'no_such_package' is not installed; install it"):
        load_encoder(open_source("packed", spec("package:no_such_package/model")))


# What is refused


def put(name, shape):
    """Add a weight to a checkpoint."""
    return lambda folder: rewrite(folder, lambda weights: weights.update({name: torch.zeros(shape)}))


def drop(part):
    return lambda folder: drop_weights(folder, part)


def fill(value):
    return lambda folder: rewrite(folder, lambda weights: [one.fill_(value) for one in weights.values()])


def take_tokenizer_away(folder):
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()


def take_mask_away(folder):
    tokenizer = tokenizer_of("bert")
    tokenizer.mask_token = None
    tokenizer.save_pretrained(folder)


def tokenizer_with(pieces) -> PreTrainedTokenizerFast:
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}
    vocabulary = {piece: number for number, piece in enumerate([*names.values(), *pieces])}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)


ENCODER, MASKS, SCORES = [load_encoder], [load_masked_lm], [load_language_model]
BOTH = [load_encoder, load_language_model]
UNUSED = r"weights of its checkpoint are not used .*: "
FAULTS = [  # what is changed in a sound folder of a kind, who loads it, and what is said
    ("bert", drop("layer.1.attention.self.query"), ENCODER, r"2 weights .*layer\.1\.attention\.self\.query\.bias"),
    ("bert", drop("cls"), MASKS, r"6 weights are not in .* and would be random: cls\.predictions\.bias, "),
    ("deberta-v2", drop("lm_predictions"), MASKS, r"5 weights .*: lm_predictions\.lm_head\.LayerNorm\.bias"),
    ("llama", drop("lm_head"), SCORES, r"1 weights are not in .* and would be random: lm_head\.weight"),
    ("bert", put("bert.encoder.layer.1.output.dense.weight", (32, 48)), BOTH, r"\[32, 48\], not \[32, 64"),
    ("bert", put("bert.encoder.adapter.weight", 2), BOTH, UNUSED + r"bert\.encoder\.adapter"),
    ("bert", put("encoder.layer.5.bias", 2), BOTH, UNUSED + r"encoder\.layer\.5\.bias;"),
    ("gpt2", put("transformer.h.5.ln_1.bias", 2), BOTH, UNUSED + r"transformer\.h\.5\.ln_1\.bias;"),
    ("deberta-v2", put("mask_predictions.classifier.weight", (1, 32)), MASKS, "is DeBERTa v3: it was trained to"),
    ("gpt2", lambda folder: (folder / "model.safetensors").write_bytes(b"none"), MASKS, "fills no masks"),
    ("bert", take_mask_away, MASKS, "has a tokenizer without a mask token"),
    ("bert", take_tokenizer_away, SCORES, "tokenizer"),
    ("gpt2", take_tokenizer_away, SCORES, "tokenizer"),
    ("roberta", take_tokenizer_away, SCORES, "tokenizer"),
    ("bert", tokenizer_with(["a"]).save_pretrained, ENCODER, "as 1 different tokens"),
    (
        "bert",
        tokenizer_with([*map(str, range(200)), "the", "you"]).save_pretrained,
        ENCODER,
        r"at most 20\d, .* \d+ rows",
    ),
    *((kind, fill(0.0), BOTH, "is the same at every token") for kind in ("bert", "gpt2", "roberta", "deberta-v2")),
    *((kind, fill(float("nan")), BOTH, "is NaN or infinite") for kind in ("bert", "gpt2", "roberta", "deberta-v2")),
]


@pytest.mark.parametrize(("kind", "damage", "loads", "said"), FAULTS)
def test_what_is_not_the_model_that_its_folder_describes_is_refused_with_the_reason(
    tmp_path, kind, damage, loads, said
):
    folder = save_sound(tmp_path, kind)
    damage(folder)
    for load in loads:
        assert re.search(said, refusal(load, folder))


@pytest.mark.parametrize("load", BOTH)
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("bert", "classifier.weight"),
        ("bert", "cls.seq_relationship.weight"),
        ("bert", "bert.pooler.dense.bias"),
        ("bert", "bert.embeddings.position_ids"),
        ("gpt2", "transformer.h.0.attn.masked_bias"),
        ("deberta", "deberta.embeddings.position_embeddings.weight"),
    ],
)
def test_other_heads_and_what_is_no_weight_do_not_matter(tmp_path, load, kind, name):
    put(name, 32)(save_sound(tmp_path, kind))
    load(open_source("tiny", spec(tmp_path / kind)))


# Damaged files, and what is no model of ours


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"])
@pytest.mark.parametrize("left", [0, 5, 0.5])
def test_a_file_that_is_cut_short_is_refused(bert, name, left):
    whole = (bert / name).read_bytes()
    (bert / name).write_bytes(whole[: left if isinstance(left, int) else int(left * len(whole))])
    assert f"mend the file in {bert}, or copy or download the whole folder again" in refusal(load_language_model, bert)


class _Runs:
    """An object that, when it is unpickled, makes a file."""

    def __reduce__(self):
        return Path.touch, (Path("ran"),)


@pytest.mark.parametrize("content", [b"no weights", b"\x80\x04\x95", b"PK\x03\x04" + bytes(300), _Runs()])
def test_damaged_weights_in_the_format_of_pytorch_are_refused_and_no_code_in_them_is_run(bert, content, monkeypatch):
    monkeypatch.chdir(bert)
    Path("model.safetensors").unlink()
    if isinstance(content, bytes):
        Path("pytorch_model.bin").write_bytes(content)
    else:
        torch.save({"weight": content}, "pytorch_model.bin")
    assert "(the weights)" in refusal(load_encoder, bert)
    assert not Path("ran").exists()


@pytest.mark.parametrize("load", [{}, {"trust_remote_code": True}])
def test_code_of_a_checkpoint_is_never_run(bert, load):
    own = {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}
    change(bert / "config.json", model_type="strange", auto_map=own)
    (bert / "evil.py").write_text(f"open({str(bert / 'ran')!r}, 'w')")
    with pytest.raises(ModelError, match=r"custom code|strange"):
        load_encoder(open_source("tiny", spec(bert, load=load)))
    assert not (bert / "ran").exists()


def test_a_precision_that_the_architecture_cannot_compute_in_is_refused_before_work(tmp_path):
    save_lm(tmp_path, "deberta")
    assert "cannot read a plain sentence in bfloat16" in refusal(load_masked_lm, tmp_path, dtype="bfloat16")


# Lengths of inputs and unknown tokens


@pytest.mark.parametrize("value", [-1, 0, 2, True, float("inf"), float("nan"), [64]])
def test_a_longest_input_that_is_no_number_or_leaves_no_room_is_refused(bert, value):
    change(bert / "tokenizer_config.json", model_max_length=value)
    assert "model_max_length of tokenizer_config.json" in refusal(load_encoder, bert)


@pytest.mark.parametrize(
    ("texts", "share"),
    [
        (["the cat"], 0),
        (["the cat", "the axolotl sings the"], 2 / 6),
        (["the axolotl"] * 2500, 0.5),
        (["axolotl", ""], 1),
        (["the cat the cat axolotl"], 0.2),
    ],
)
def test_the_share_of_unknown_tokens_is_counted_by_hand_and_the_limit_itself_is_accepted(texts, share):
    described = SimpleNamespace(name="words", tokenizer=tokenizer_with(["the", "cat", "dog"]))
    model = SimpleNamespace(described=described, what="a stage")
    if share <= 0.2:
        assert MeasuredModel.check(model, texts) == {"unknown": share}
    else:
        with pytest.raises(ModelError, match=rf"{share:.1%} of the tokens .* of a stage .*'axolotl'.* most 20%"):
            MeasuredModel.check(model, texts)


MODELS = ("mini-clm", "mini-mlm")
TEXTS = ["The more you look, the more you see.", "She baked him a cake and he ate it.", "They ran."]


def folder_of(name, model):
    return answers_folder(name, model, "cpu")


@pytest.mark.pipeline
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("dtype", "bound"), [("float16", 0.001), ("bfloat16", 0.012)])
def test_scores_in_low_precision_are_near_those_in_float32_and_never_mixed_with_them(name, dtype, bound):
    exact, low = (
        load_language_model(open_source(name, spec(ROOT / "models" / name, dtype=one))) for one in ("float32", dtype)
    )
    found, expected = log_probs_of(low, TEXTS), log_probs_of(exact, TEXTS)
    assert 0 < np.linalg.norm(found - expected) / np.linalg.norm(expected) < bound
    assert folder_of(name, low) != folder_of(name, exact)
    assert (low.facts.precision, exact.facts.precision) == (dtype, "float32")


@pytest.mark.pipeline
@pytest.mark.parametrize("name", MODELS)
def test_layers_on_the_disk_give_the_same_numbers_under_a_key_of_their_own(name, tmp_path):
    load = {"device_map": "auto", "max_memory": {"cpu": "30MB"}, "offload_folder": str(tmp_path / "layers")}
    plain, spread = (
        load_language_model(open_source(name, spec(ROOT / "models" / name, load=one))) for one in ({}, load)
    )
    assert set(spread.model.hf_device_map.values()) == {"cpu", "disk"}
    np.testing.assert_allclose(log_probs_of(spread, TEXTS), log_probs_of(plain, TEXTS), atol=1e-5)
    assert spread.fingerprint == plain.fingerprint  # the same weights, wherever they lie
    assert spread.facts.precision.startswith('float32, load {"device_map": "auto", "max_memory": ')
    described = load_language_model(open_source(name, spread_spec := spec(ROOT / "models" / name, load=load)), "meta")
    assert folder_of(name, described) == folder_of(name, spread) != folder_of(name, plain)
    encoders = [load_encoder(open_source(name, one)) for one in (spread_spec, spec(ROOT / "models" / name))]
    vectors, expected = (vectors_of(encoder, TEXTS) for encoder in encoders)
    np.testing.assert_allclose(vectors, expected, atol=1e-4)


def test_another_attention_is_in_the_facts_and_the_key_and_gives_the_same_numbers(tmp_path):
    folder = save_sound(tmp_path, "gpt2")
    plain, eager = (spec(folder, load=load) for load in ({}, {"attn_implementation": "eager"}))
    model, expected = (load_language_model(open_source("tiny", one)) for one in (eager, plain))
    assert (model.facts.attention, expected.facts.attention) == ("eager", "sdpa")
    assert load_language_model(open_source("tiny", eager), "meta").facts == model.facts
    assert folder_of("tiny", model) != folder_of("tiny", expected)
    np.testing.assert_allclose(log_probs_of(model, TEXTS), log_probs_of(expected, TEXTS), atol=1e-5)


def test_a_model_that_does_not_come_to_lie_where_the_stage_computes_is_refused(tmp_path):
    save_lm(tmp_path, "gpt2")
    with pytest.raises(ModelError, match=r"models\.m\.load puts it on cpu, .* computes on cuda:1"):
        load_language_model(open_source("m", spec(tmp_path, load={"device_map": "cpu"})), "cuda:1")


def test_what_transformers_says_of_a_load_that_it_cannot_follow_is_passed_on_with_the_key(tmp_path):
    unknown = {"quantization_config": {"quant_method": "no-such-method"}}
    with pytest.raises(ModelError, match=r"Unknown quantization type.*look whether models\.m\.load can be followed"):
        load_language_model(open_source("m", spec(save_sound(tmp_path, "gpt2"), load=unknown)))


SENTENCES = sentences_that_begin_alike()[:24]


def saved(folder, kind):
    """Save a tiny model of an architecture with a tokenizer that knows the words of the texts."""
    save_lm(folder, kind, tokenizer_of("roberta"))
    return folder


def prefix_by_prefix(model, ids):
    """Return the log-probability of each id but the first, by a pass that cannot see what follows."""
    with torch.no_grad():
        return [
            model(input_ids=torch.tensor([ids[:end]])).logits[0, -1].float().log_softmax(-1)[ids[end]].item()
            for end in range(1, len(ids))
        ]


@pytest.mark.parametrize(
    ("kind", "dtype", "reads_trees"),
    [
        ("opt", "float32", True),  # its forward pass goes past the base model
        ("roberta-decoder", "float32", False),  # its positions do not count from 0
        ("roberta-decoder", "bfloat16", False),
        ("minimax", "float32", False),  # a state goes on from text to text
        ("minimax", "bfloat16", False),
        ("gpt2", "bfloat16", True),
    ],
)
def test_a_causal_model_is_asked_in_the_fastest_way_that_gives_its_own_numbers(tmp_path, kind, dtype, reads_trees):
    model = load_language_model(open_source("tiny", spec(saved(tmp_path, kind), dtype=dtype)))
    assert (model.reads_trees, model.batched) == (reads_trees, True)
    if dtype == "float32":
        for scores in causal_token_scores(model, SENTENCES, bos="none", token_budget=96):
            expected = prefix_by_prefix(model.model, scores.ids.tolist())
            np.testing.assert_allclose(scores.log_probs[1:], expected, atol=1e-4)


def test_texts_of_more_tokens_than_a_window_has_share_no_row_and_those_of_fewer_do(tmp_path):
    change(saved(tmp_path, "minimax") / "config.json", sliding_window=6)
    assert not load_language_model(open_source("tiny", spec(tmp_path))).reads_trees
    change(saved(tmp_path, "qwen2") / "config.json", sliding_window=6, use_sliding_window=True, max_window_layers=0)
    model = load_language_model(open_source("tiny", spec(tmp_path)))
    assert (model.reads_trees, model.longest_row) == (True, 6)
    for scores in causal_token_scores(model, [*SENTENCES[:4], "the cat", "the dog"], bos="none", token_budget=96):
        np.testing.assert_allclose(scores.log_probs[1:], prefix_by_prefix(model.model, scores.ids.tolist()), atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", ["both-ways", "no-decoder"])
def test_a_model_that_sees_what_follows_gives_no_scores_from_left_to_right_but_vectors(tmp_path, kind, dtype):
    folder = saved(tmp_path, kind)
    assert "its tokens see what follows them" in refusal(load_language_model, folder, dtype=dtype)
    assert load_encoder(open_source("tiny", spec(folder, dtype=dtype))).batched


@pytest.mark.parametrize(("kind", "batched"), [("fnet", False), ("bert", True)])
def test_vectors_that_depend_on_the_batch_are_computed_one_at_a_time(tmp_path, kind, batched):
    saved(tmp_path, kind)
    texts = [SENTENCES[0], "the cat", "we say that the fox runs"]
    for encoder in (
        load_encoder(open_source("tiny", spec(tmp_path))),
        encoder_of(load_language_model(open_source("tiny", spec(tmp_path)))),
    ):
        assert encoder.batched == batched
        alone = np.concatenate([vectors_of(encoder, [text], 512) for text in texts], axis=1)
        np.testing.assert_allclose(vectors_of(encoder, texts, 512), alone, atol=1e-5)


@pytest.mark.parametrize("load", [load_language_model, load_encoder])
def test_a_model_that_answers_otherwise_each_time_is_refused(tmp_path, load, monkeypatch):
    plain = BertLayer.forward
    monkeypatch.setattr(BertLayer, "forward", lambda *args, **options: plain(*args, **options) * torch.rand(1))
    assert "no answer to" in refusal(load, saved(tmp_path, "bert"))


@pytest.mark.parametrize("kind", ["convbert", "mobilebert", "nystromformer", "yoso", "bert"])
def test_a_prompt_is_answered_alike_alone_and_beside_others_as_a_text_is_scored(tmp_path, kind):
    model = load_language_model(open_source("tiny", spec(saved(tmp_path, kind))))
    texts = ("the cat", "we say that the old dog", "the king")
    prompts = [tokens_of_sentence(model, text, [len(text)], ("runs", "sings"), " here.") for text in texts]
    targets = torch.tensor([prompt.targets for prompt in prompts])
    alone = [answers_after(model, [one], targets[[number]]) for number, one in enumerate(prompts)]
    torch.testing.assert_close(answers_after(model, prompts, targets), torch.cat(alone), rtol=0, atol=1e-5)


def test_interventions_are_refused_where_what_seem_to_be_blocks_are_parts_of_them(tmp_path):
    model = load_language_model(open_source("tiny", spec(saved(tmp_path, "xlm"))))
    ids = np.array(model.tokenizer(SENTENCES[0])["input_ids"], dtype=np.int32)
    with pytest.raises(ModelError, match="after the own vectors of block 2 are written back"):
        block_output(model, [SentenceTokens(ids, (2,), 4, (7, 8))], 0, 64)


def test_numbers_are_alike_up_to_half_of_the_digits_of_their_precision():
    numbers = np.linspace(-9, -1, 50)
    for dtype, far in ((torch.float32, 1e-3), (torch.float16, 0.05), (torch.bfloat16, 0.15)):
        assert are_alike([numbers, numbers * (1 + far / 10)], [numbers, numbers], dtype)
        assert not are_alike([numbers, numbers * (1 + far)], [numbers, numbers], dtype)
    assert are_alike([np.ones(2)], [np.ones(2)], torch.float32)
    assert not are_alike([np.ones(2)], [np.zeros(2)], torch.bfloat16)
    assert not are_alike([np.array([1.0, np.nan])], [np.array([1.0, 2.0])], torch.bfloat16)


@pytest.mark.parametrize("kind", ["roberta", "camembert", "mpnet", "bert"])
def test_a_text_of_exactly_the_longest_input_is_read(tmp_path, kind):
    save_lm(tmp_path, kind, tokenizer_of("roberta"), positions=32)
    encoder = load_encoder(open_source("tiny", spec(tmp_path)))
    assert encoder.max_tokens == (32 if kind == "bert" else 30)
    text = " ".join(["cat"] * 60)
    whole = next(text[:end] for end in range(240, 0, -1) if len(encoder.tokenizer(text[:end])["input_ids"]) == 30)
    assert np.isfinite(vectors_of(encoder, [whole], 512)).all()


@pytest.mark.parametrize("kind", ["deberta-legacy", "deberta-v2-legacy"])
def test_the_keys_of_a_checkpoint_decide_which_head_a_deberta_has(tmp_path, kind):
    model = load_language_model(open_source("tiny", spec(saved(tmp_path, kind))))
    plain = AutoModelForMaskedLM.from_pretrained(tmp_path).eval()
    [scores] = score_texts(model, [{"the old cat": 0}], ScoringConfig(["pll"], 96))
    tokens = torch.arange(len(scores.ids))
    ids = torch.tensor([model.tokenizer("the old cat")["input_ids"]]).repeat(len(tokens), 1)
    ids[tokens, tokens + 1] = model.tokenizer.mask_token_id
    with torch.no_grad():
        logits = plain(ids).logits[tokens, tokens + 1].log_softmax(-1)
    np.testing.assert_allclose(scores.log_probs, logits[tokens, scores.ids.tolist()], atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("electra-discriminator", "saved as ElectraForPreTraining, and is read as ElectraForMaskedLM"),
        ("bert-body", "saved as BertModel, and is read as BertForMaskedLM"),
    ],
)
def test_a_checkpoint_without_the_head_is_refused_with_this_reason_and_gives_vectors(tmp_path, kind, reason):
    saved(tmp_path, kind)
    with pytest.raises(ModelError, match=reason):
        load_language_model(open_source("tiny", spec(tmp_path)))
    load_encoder(open_source("tiny", spec(tmp_path)))


def test_an_encoder_with_a_decoder_is_refused_and_its_encoder_alone_gives_vectors_and_no_scores(tmp_path):
    tokenizer = tokenizer_of("roberta")
    sizes = {"d_model": 16, "d_kv": 4, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    for model in (T5Model, T5EncoderModel):
        model(T5Config(vocab_size=len(tokenizer), **sizes)).save_pretrained(tmp_path / model.__name__)
        tokenizer.save_pretrained(tmp_path / model.__name__)
    assert "is an encoder with a decoder" in refusal(load_encoder, tmp_path / "T5Model")
    encoder = tmp_path / "T5EncoderModel"
    assert vectors_of(load_encoder(open_source("tiny", spec(encoder))), SENTENCES[:2]).shape == (2, 2, 16)
    assert "is a t5 model, which is no language model" in refusal(load_language_model, encoder)
