"""Keys of the environment in texts and errors."""

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.secrets import blot, blot_all, blot_error

KEY = "sk-a-key-that-is-secret"
# With characters that every way of writing has another form of.
ODD = 'p@ss/w+rd "é" & <more>'


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", KEY)
    monkeypatch.setenv("LOCAL_API_KEY", "none")


NAMES = (
    *("OPENAI_API_KEY", "OPENAI_API_KEY_2", "HF_TOKEN", "HF_AUTH", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    *("MLFLOW_TRACKING_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "GITHUB_PAT", "DB_PASS_MAIN", "azure_credentials"),
)


@pytest.mark.parametrize("name", NAMES)
def test_the_values_of_variables_whose_names_say_so_are_secret(monkeypatch, name):
    monkeypatch.setenv(name, "value-of-this-one")
    assert blot("before value-of-this-one after") == "before [key] after"


@pytest.mark.parametrize("name", ["HOME_OF_THE_PROJECT", "PWD", "HF_TOKEN_PATH", "TOKENIZERS_PARALLELISM"])
def test_a_placeholder_and_ordinary_variables_are_left_alone(monkeypatch, name):
    monkeypatch.setenv(name, "an-ordinary-value")
    assert blot("none of an-ordinary-value") == "none of an-ordinary-value"


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("postgresql://user:p@ss-word@host:5432/db", "p@ss-word"),
        ("redis://:a-long-word@host", "a-long-word"),
        ("postgresql://host/db?user=u&password=a-long-word&sslmode=require", "a-long-word"),
        ("Endpoint=https://host;AccountKey=a-long-word", "a-long-word"),
    ],
)
def test_passwords_in_addresses_are_secret_in_any_variable(monkeypatch, value, secret):
    monkeypatch.setenv("STORE", value)
    assert blot(f"no access to {value}") == f"no access to {value.replace(secret, '[key]')}"
    assert blot(f"wrong: {secret}.") == "wrong: [key]."


WAYS = {
    "address": quote,
    "whole address": lambda text: quote(text, safe=""),
    "small letters": lambda text: re.sub("%..", lambda code: code[0].lower(), quote(text, safe="")),
    "form": quote_plus,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON as UTF-8": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "HTML": html.escape,
    "HTML text": lambda text: html.escape(text, quote=False),
    "Python": lambda text: repr(text)[1:-1],
}


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_found_however_it_is_written(monkeypatch, way):
    monkeypatch.setenv("OTHER_KEY", ODD)
    assert blot(f"<{WAYS[way](ODD)}>") == "<[key]>"


@given(st.binary(max_size=5), st.binary(max_size=5))
def test_nothing_of_a_secret_can_be_read_from_a_longer_text_in_base64(before, after):
    """Such as user and password in a header; a letter at either end may belong to what is beside the secret."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        blotted = blot(encode(before + KEY.encode() + after).decode())
        assert "[key]" in blotted
        assert len(blotted.replace("[key]", "")) <= 4 * (len(before) + len(after) + 6) / 3


def test_every_line_of_a_key_is_secret_with_breaks_as_they_are_or_written_out(monkeypatch):
    lines = ["-----BEGIN KEY-----", "MIIEvQIBADANBgkqhkiG", "9w0BAQEFAASCBKcwggSj"]
    for brk in ("\n", "\r\n", "\\n"):
        monkeypatch.setenv("SERVICE_KEY", brk.join(lines))
        for text in ("\n".join(lines), json.dumps("\n".join(lines)), f"at {lines[1]}: no key", brk.join(lines)):
            assert not [line for line in lines if line in blot(text)]


@pytest.mark.parametrize(
    "text",
    [
        "hf_AbCdEfGhIjKlMnOpQrStUv",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "sk-proj-0123456789abcdefghij",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
    ],
)
def test_what_looks_like_a_key_is_in_no_message_and_stays_in_a_reply(text):
    assert blot(f"refused: {text}") == "refused: [key]"
    assert blot_all([text]) == [text]


def test_a_header_with_a_key_has_none():
    assert blot("Authorization: Bearer 0123456789abcdefghij") == "Authorization: Bearer [key]"


def test_a_key_that_begins_with_another_is_removed_whole(monkeypatch):
    monkeypatch.setenv("OTHER_TOKEN", f"{KEY}-and-more")
    assert blot(f"{KEY}-and-more {KEY}") == "[key] [key]"


def test_texts_at_any_depth_are_cleaned():
    assert blot_all({"a": [KEY, 1, ("x", f"<{KEY}>")], "b": None}) == {"a": ["[key]", 1, ("x", "<[key]>")], "b": None}


def test_an_error_and_what_led_to_it_lose_the_key():
    def fail():
        try:
            raise ValueError(f"refused: {KEY}")
        except ValueError as cause:
            outer = RuntimeError(f"request failed: {KEY}")
            outer.body = {"message": KEY}
            raise outer from cause

    with pytest.raises(RuntimeError) as raised:
        fail()
    blot_error(raised.value)
    assert str(raised.value) == "request failed: [key]"
    assert raised.value.body == {"message": "[key]"}
    assert str(raised.value.__cause__) == "refused: [key]"


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ({"message": "no", "code": 7, "request": {"x-api-key": "of-elsewhere"}}, {"message": "no", "code": 7}),
        ({"detail": [{"input": "of-elsewhere"}]}, {}),
        ("<html>" + "x" * 300 + "of-elsewhere", "<html>" + "x" * 294),
    ],
)
def test_of_what_a_server_answers_an_error_keeps_the_message_alone(body, kept):
    error = RuntimeError(f"Error code: 401 - {body}")
    error.body = body
    blot_error(error)
    assert (str(error), error.body) == (f"Error code: 401 - {kept}", kept)
