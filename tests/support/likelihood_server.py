"""A small HTTP server that answers /v1/completions as OpenAI's and vLLM's do, by a model of transformers."""

import threading
from contextlib import contextmanager

import torch
from servers import answering


class Answers:
    """What the server does; tests change it while it runs.

    Attributes:
        model: Of transformers, causal.
        tokenizer: Of the server, which may be another than the model's.
        requests: Every request: its body and its Authorization header.
        refuses: Says by the number of a request whether it is refused, and with which status.
        damages: Changes an answer before it is sent.
        echoes: Whether it supports echo.
    """

    def __init__(self, model, tokenizer):
        self.model, self.tokenizer = model, tokenizer
        self.requests = []
        self.refuses = lambda number: 0
        self.damages = lambda choice, ids: choice
        self.echoes = True
        self.lock = threading.Lock()

    def choice(self, body):
        ids = body["prompt"]
        with self.lock, torch.inference_mode():
            logs = self.model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
        following = int(logs[-1].argmax())
        numbers = [None, *(float(logs[place, number]) for place, number in enumerate(ids[1:]))]
        said = [self.tokenizer.decode([number]) for number in (*ids, following)]
        generated = {"token_logprobs": [float(logs[-1, following])], "tokens": said[-1:]}
        choice = {"index": 0, "text": said[-1], "finish_reason": "length", "logprobs": None}
        if "logprobs" in body:
            choice["logprobs"] = generated
        if body.get("echo") and self.echoes:
            choice["logprobs"] = {"token_logprobs": [*numbers, *generated["token_logprobs"]], "tokens": said}
        return self.damages(choice, ids)


@contextmanager
def likelihood_server(model, tokenizer):
    """Run the server on a free port; gives its address, which ends in /v1, and what it does."""
    answers = Answers(model, tokenizer)

    def answer(body, authorization):
        with answers.lock:
            answers.requests.append((body, authorization))
            status = answers.refuses(len(answers.requests))
        if status:
            return status, {"error": {"message": f"no, {authorization}"}}
        content = {"id": "c", "object": "text_completion", "created": 0, "model": body["model"]}
        return 200, content | {"choices": [answers.choice(body)]}

    with answering(answer) as address:
        yield f"{address}/v1", answers


def served_model(url: str, **changes: object) -> dict:
    """Return the entry of a model on such a server, as section ``models`` of params has it."""
    given = {"kind": "served", "url": url, "name": "big", "weights": "those of clm"}
    given |= {"tokenizer": "models/clm", "revision": None, "max_tokens": 128, "connections": 4, "retries": 0}
    return given | {"timeout": 60, "key": None} | changes
