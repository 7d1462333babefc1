"""Vectors that are written into models, against the models' own forward passes and plain hooks."""

import pytest
import torch
from tiny_lms import CAUSAL, MASKED

from cxprobe.models.causal import CausalLM
from cxprobe.models.intervening import Edits, answers_after, block_output, blocks_of, tokens_of_sentence

pytest_plugins = ["loaded_lms"]

ANSWERS = ("runs", "sings")


@pytest.fixture(params=[*CAUSAL, *MASKED])
def lm(request, lms):
    return lms(request.param)


def prompt(lm, before: str, end: str, answers=ANSWERS):
    return tokens_of_sentence(lm, before, [before.index(end) + len(end)], answers, " here.")


@pytest.fixture
def prompts(lm):
    """Base sentences of several lengths."""
    return [prompt(lm, text, "cat") for text in ("the red cat", "the old cat that the dog", "the young cat")]


def targets_of(prompts) -> torch.Tensor:
    return torch.tensor([one.targets for one in prompts])


def test_regions_end_with_their_last_token_and_the_answer_is_predicted_where_the_model_predicts_it(lm):
    read = prompt(lm, "the red cat that the dog", "cat")
    tokens = lm.tokenizer.convert_ids_to_tokens(read.ids.tolist())
    assert tokens[read.regions[0]].strip("Ġ▁#") == "cat"
    if isinstance(lm, CausalLM):
        assert read.at == len(read.ids) - 1
    else:
        assert tokens[read.at] == lm.tokenizer.mask_token
        assert read.regions[-1] == read.at
    assert [token.strip("Ġ▁") for token in lm.tokenizer.convert_ids_to_tokens(read.targets)] == [*ANSWERS]


def test_answers_that_one_token_does_not_tell_apart_are_refused(lm):
    assert prompt(lm, "the red cat", "cat", ("runs", "runs")) is None
    assert prompt(lm, "the red cat", "cat", ("zab", "zac")) is None  # spelled, and their first letter is the same


def test_a_model_that_goes_on_from_any_block_answers_as_one_that_runs_as_a_whole(lm, prompts):
    expected = answers_after(lm, prompts, targets_of(prompts))
    for block in range(len(blocks_of(lm))):
        output = block_output(lm, prompts, block, 64)
        columns = torch.tensor([one.regions[:1] for one in prompts])
        edits = Edits(output, torch.arange(3), columns[:, 0], output.at(columns)[:, 0])
        torch.testing.assert_close(answers_after(lm, prompts, targets_of(prompts), edits), expected, rtol=0, atol=2e-5)


def test_a_written_vector_has_the_effect_of_a_plain_hook(lm, prompts):
    [one, *_], vector = prompts, torch.full((1, 32), 0.5)
    ids, column = torch.from_numpy(one.ids).long()[None], one.regions[0]

    def write(_module, _args, output):
        hidden = (output[0] if isinstance(output, tuple) else output).clone()
        hidden[0, column] = vector[0]
        return (hidden, *output[1:]) if isinstance(output, tuple) else hidden

    hook = blocks_of(lm)[0].register_forward_hook(write)
    with torch.no_grad():
        expected = lm.model(input_ids=ids).logits[0, one.at].log_softmax(-1)[list(one.targets)]
    hook.remove()
    edits = Edits(block_output(lm, [one], 0, 64), torch.tensor([0]), torch.tensor([column]), vector)
    torch.testing.assert_close(answers_after(lm, [one], targets_of([one]), edits)[0], expected, rtol=0, atol=2e-5)


def test_gradients_reach_the_vector_that_is_written(lm, prompts):
    vector = torch.full((3, 32), 0.1, requires_grad=True)
    columns = torch.tensor([one.at for one in prompts])
    edits = Edits(block_output(lm, prompts, 0, 64), torch.arange(3), columns, vector)
    answers_after(lm, prompts, targets_of(prompts), edits)[:, 0].sum().backward()
    assert bool((vector.grad.norm(dim=-1) > 0).all())


def test_a_model_is_left_as_it_was(lm, prompts):
    targets = targets_of(prompts)
    before = answers_after(lm, prompts, targets)
    edits = Edits(block_output(lm, prompts, 1, 64), torch.arange(3), torch.zeros(3).long(), torch.zeros(3, 32))
    answers_after(lm, prompts, targets, edits)
    assert torch.equal(before, answers_after(lm, prompts, targets))
    assert not [block for block in blocks_of(lm) if "forward" in vars(block)]
