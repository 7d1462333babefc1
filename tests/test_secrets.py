"""Keys of the environment in texts and errors."""

import pytest

from cxprobe.secrets import blot, blot_all, blot_error

KEY = "sk-a-key-that-is-secret"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", KEY)
    monkeypatch.setenv("LOCAL_API_KEY", "none")


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "MLFLOW_TRACKING_PASSWORD"])
def test_the_values_of_variables_whose_names_say_so_are_secret(monkeypatch, name):
    monkeypatch.setenv(name, "value-of-this-one")
    assert blot("before value-of-this-one after") == "before [key] after"


def test_a_placeholder_and_ordinary_variables_are_left_alone(monkeypatch):
    monkeypatch.setenv("HOME_OF_THE_PROJECT", "an-ordinary-value")
    assert blot("none of an-ordinary-value") == "none of an-ordinary-value"


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
