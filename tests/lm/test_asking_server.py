"""The engine against a real server, `transformers serve` with a tiny model: plain, and failing half of the time."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest
import torch
from chat_server import chat_server
from servers import wait_until
from tiny_lms import byte_bpe
from transformers import LlamaConfig, LlamaForCausalLM

from conftest import ROOT
from cxprobe.lm.asking import put_questions
from cxprobe.lm.params import Llm
from cxprobe.prompts.items import load_items, render_inferences
from cxprobe.prompts.wording import InferencePrompts, ask_item, load_prompts

pytestmark = pytest.mark.slow
pytest.importorskip("inspect_ai")
pytest.importorskip("uvicorn", reason="transformers serve needs uvicorn")
pytest.importorskip("fastapi", reason="transformers serve needs fastapi")

PATIENCE = 300  # seconds for a server to start, on a busy machine
CHAT = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
NAME = next(path.parent.name for path in sorted((ROOT / "constructions").glob("*/items.yaml")))
ITEMS = render_inferences(load_items(NAME, ROOT / "constructions"), NAME)[:10]
PROMPTS = load_prompts(InferencePrompts, ROOT / "prompts")
QUESTIONS = {item.id: ask_item(item, "paper-2", PROMPTS, None, chain_of_thought=False) for item in ITEMS}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The address of `transformers serve`, and the name of its only model."""
    folder = tmp_path_factory.mktemp("served")
    torch.manual_seed(0)
    tokenizer = byte_bpe({"bos": "<s>", "eos": "</s>", "pad": "<pad>"})
    tokenizer.model_max_length, tokenizer.chat_template = 2048, CHAT
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 64}
    special = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("bos", "eos", "pad")}
    config = LlamaConfig(
        vocab_size=len(tokenizer), max_position_embeddings=2048, initializer_range=0.3, **sizes, **special
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["transformers", "serve", str(folder), "--device", "cpu", "--host", "127.0.0.1", "--port", str(port)]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            command, env=os.environ | {"PATH": path, "HF_HUB_OFFLINE": "1"}, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        wait_until(lambda: answers(f"http://127.0.0.1:{port}/health"), as_long_as=lambda: server.poll() is None)
        yield f"http://127.0.0.1:{port}/v1", str(folder)
    finally:
        server.terminate()
        server.wait(60)


def answers(address: str) -> bool:
    with suppress(URLError):
        urlopen(address)
        return True
    return False


@pytest.fixture
def proxy(served):
    """Before the real server, one that counts what was answered; its `fails` says which requests it refuses."""
    state = SimpleNamespace(answered=Counter(), requests=0, lock=threading.Lock(), fails=lambda number: False)

    def answer(text, body):
        with state.lock:
            state.requests += 1
            refused = state.fails(state.requests)
        if refused:
            return 503, {"error": {"message": "busy"}}
        request = Request(
            f"{served[0]}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urlopen(request) as reply:
            said = json.load(reply)
        with state.lock:
            state.answered[text] += 1
        return 200, said

    with chat_server(answer) as state.url:
        yield state


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("LOCAL_API_KEY", "none")


def llm(url: str, model: str, connections: int = 4) -> Llm:
    return Llm(
        name=f"openai-api/local/{model}", base_url=url, arguments={}, max_tokens=4, connections=connections,
        retries=10, timeout=300,
    )  # fmt: skip


def put(model: Llm, folder, questions=QUESTIONS):
    return put_questions(questions, model, folder)


def test_a_server_that_fails_half_of_the_time_gives_what_one_gives_that_never_does(served, proxy, tmp_path):
    url, name = served
    plain = put(llm(url, name), tmp_path / "plain")
    assert [reply.id for reply in plain] == [item.id for item in ITEMS]
    assert all(reply.text and not reply.error for reply in plain)
    assert len({reply.text for reply in plain}) > 1  # the model reads what it is asked
    proxy.fails = lambda number: number % 2 == 0
    flaky = put(llm(proxy.url, name), tmp_path / "flaky")
    assert flaky == plain
    assert proxy.answered == Counter(QUESTIONS.values())
    assert proxy.requests > len(QUESTIONS)


CHILD = """
import json, sys
from pathlib import Path
from types import SimpleNamespace
from cxprobe.lm.asking import put_questions
from cxprobe.lm.params import Llm
llm, questions, folder = json.load(sys.stdin)
llm = Llm.model_validate(llm)
put_questions(dict(questions), llm, Path(folder))
"""


def test_a_run_that_was_killed_goes_on_and_asks_nothing_again(served, proxy, tmp_path):
    model = llm(proxy.url, served[1], connections=1)
    reached, go_on = threading.Event(), threading.Event()

    def fails(number: int) -> bool:
        if number == 7 and not reached.is_set():
            reached.set()
            go_on.wait(60)
            return True
        return False

    proxy.fails = fails
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, text=True)
    json.dump([model.model_dump(), QUESTIONS, str(tmp_path)], child.stdin)
    child.stdin.close()
    assert reached.wait(PATIENCE)  # six were answered, and the seventh is under way
    child.send_signal(signal.SIGKILL)
    child.wait()
    go_on.set()
    before = proxy.answered.copy()
    assert sum(before.values()) == 6
    replies = put(model, tmp_path)
    assert all(reply.text for reply in replies)
    assert proxy.answered == Counter(QUESTIONS.values())  # each once, over both runs
