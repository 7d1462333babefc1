"""The engine, against inspect's mock model and a server of our own; nothing leaves the machine."""

import os
import subprocess
import sys
import threading
import zipfile
from collections import Counter

import pandas as pd
import pytest
from servers import answering

from conftest import ROOT
from cxprobe.errors import ModelError
from cxprobe.models.asking import open_llm, replies_to
from cxprobe.models.params import Llm

pytestmark = pytest.mark.pipeline

pytest.importorskip("inspect_ai")

QUESTIONS = {f"id {number}": f"Is {number} even?" for number in range(10)}
TEXTS = list(QUESTIONS.values())
FIRST = {"id 0": QUESTIONS["id 0"]}
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
FRAME = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "usage": USAGE}


def refused(code, message):
    return 400, {"error": {"message": message, "code": code, "type": "invalid_request_error"}}


def said(text, finish_reason):
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
    return 200, FRAME | {"choices": [choice]}


KEY = "sk-a-key-that-is-secret"
ODD = {
    "echo": (401, {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}),
    "repeat": said(f"Your key is {KEY}. Answer: 1", "stop"),
    "long": refused("context_length_exceeded", "The context is too long. Answer: 1"),
    "endless": refused("x", "The input length exceeds the context"),
    "invalid": refused("invalid_prompt", "Your prompt was blocked."),
    "filtered": said("Answer: 1", "content_filter"),
    "silent": (200, FRAME | {"choices": []}),
    "cut": said("The premise says", "length"),
    "empty": said(" ", "stop"),
}


def llm(**changes):
    plain = {"name": "mockllm/model", "base_url": None, "arguments": {"reply": "Answer: 1"}, "max_tokens": 7}
    return Llm.model_validate(plain | {"connections": 5, "retries": 4, "timeout": 60} | changes)


def local(url, **changes):
    return llm(name="openai-api/local/m", base_url=url, arguments={}, **changes)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("LOCAL_API_KEY", "none")


@pytest.fixture
def server():
    """An OpenAI-compatible server that says what it was asked, and fails at every second request.

    A question that begins with one of `ODD` is answered as that says, at every request.
    """
    asked: Counter[str] = Counter()
    lock = threading.Lock()

    def answer(body, _):
        content = body["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        with lock:
            asked[text] += 1
            number = asked.total()
        if odd := ODD.get(text.split()[0]):
            return odd
        if number % 2 == 0 or "broken" in text:
            return 500, {"error": {"message": "down"}}
        return said(f"You asked: {text} {body['temperature']}", "stop")

    with answering(answer) as url:
        yield f"{url}/v1", asked


def ask(questions, model, folder):
    """Return the replies by their ids, and the errors of those that failed."""
    table = replies_to(pd.DataFrame(questions.items(), columns=["id", "question"]), model, folder, "asking")
    assert table["id"].tolist() == list(questions)
    assert table.loc[table["failed"], "reply"].eq("").all()
    table = table.set_index("id")
    return table["reply"].to_dict(), table.loc[table["failed"], "error"].to_dict()


def test_a_model_with_other_arguments_does_not_get_the_answers_of_the_first(tmp_path):
    for said in ("Answer: 1", "Answer: 0", "Answer: 1"):
        assert set(ask(QUESTIONS, llm(arguments={"reply": said}), tmp_path)[0].values()) == {said}


@pytest.mark.parametrize("name", ["openai-api/nowhere/model", "nonsense/model", "model"])
def test_a_model_that_cannot_be_asked_is_refused_before_any_request(name):
    with pytest.raises(ModelError, match=f"^{name}: "):
        open_llm(llm(name=name, arguments={}))


def test_with_a_server_that_fails_half_of_the_time_nothing_is_lost_and_nothing_asked_twice(server, tmp_path):
    url, asked = server
    model = local(url)
    said = {id_: f"You asked: {text} 0.0" for id_, text in QUESTIONS.items()}
    assert ask(dict(list(QUESTIONS.items())[:6]), model, tmp_path)[0] == dict(list(said.items())[:6])
    before = asked.copy()
    assert ask(QUESTIONS, model, tmp_path) == (said, {})  # as if the first run had been cut off
    assert set(asked - before) == set(TEXTS[6:])


def test_an_error_that_inspect_hands_on_as_text_is_no_reply_and_is_asked_again(server, tmp_path):
    url, asked = server
    model = local(url)
    questions = FIRST | {name: f"{name} question" for name in ODD}
    for times in (1, 2):
        replies, failed = ask(questions, model, tmp_path)
        assert set(failed) == ODD.keys() - {"repeat", "cut"}
        assert "model_length: The context is too long. Answer: 1" in failed["long"]
        assert replies["cut"] == "The premise says"
        assert {asked[f"{name} question"] for name in failed} == {times}
        assert asked["cut question"] == 1


def test_a_key_that_the_server_repeats_is_not_stored_or_printed(server, tmp_path, monkeypatch, capfd):
    url, _ = server
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    model = local(url, retries=0)
    questions = FIRST | {"echo": "echo question", "repeat": "repeat question"}
    replies, errors = ask(questions, model, tmp_path)
    assert "Incorrect API key provided: [key]" in errors["echo"]
    assert replies["repeat"] == "Your key is [key]. Answer: 1"
    with pytest.raises(ModelError, match=r"Incorrect API key provided: \[key\]"):
        ask({"echo": "echo question"}, model, tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY in content_of(path)]
    assert KEY not in "".join(capfd.readouterr())


def content_of(path):
    """Return all that a file holds as one text; inspect's logs are archives."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return "".join(archive.read(name).decode(errors="replace") for name in archive.namelist())
    return path.read_bytes().decode(errors="replace")


def test_a_server_that_answers_none_of_the_first_questions_is_not_asked_the_others(server, tmp_path):
    url, asked = server
    model = local(url, retries=0)
    broken = {f"broken {number}": f"broken {number}?" for number in range(10)}
    with pytest.raises(ModelError, match=r"local/m: none of the first 3 questions was answered, .*InternalServerError"):
        ask(broken, model, tmp_path)
    assert set(asked) == set(list(broken.values())[:3])


def test_inspect_writes_nothing_outside_of_the_scratch(tmp_path):
    code = f"""
from pathlib import Path
import pandas as pd
from cxprobe.models.asking import replies_to
from cxprobe.models.params import Llm
table = pd.DataFrame({{"id": ["a"], "question": ["Is it?"]}})
replies_to(table, Llm.model_validate({llm().model_dump()!r}), Path("scratch"), "a test")
"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "INSPECT_"))}
    (tmp_path / "home").mkdir()
    environment |= {"HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    assert list((tmp_path / "home").rglob("*")) == []
    assert (tmp_path / "scratch" / "logs").is_dir()
    assert list((tmp_path / "scratch").glob("trace.log*")) == []
