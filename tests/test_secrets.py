"""Keys of the environment in texts and errors."""

import pytest

from cxprobe.secrets import redact, redact_all, redact_error

KEY = "sk-a-key-that-is-secret"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", KEY)


NAMES = (
    *("OPENAI_API_KEY", "OPENAI_API_KEY_2", "HF_TOKEN", "HF_AUTH", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    *("MLFLOW_TRACKING_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "GITHUB_PAT", "DB_PASS_MAIN", "azure_credentials"),
)


@pytest.mark.parametrize("name", NAMES)
def test_the_values_of_variables_whose_names_say_so_are_secret(monkeypatch, name):
    monkeypatch.setenv(name, "value-of-this-one")
    assert redact("before value-of-this-one after") == "before [key] after"


@pytest.mark.parametrize("name", ["HOME_OF_THE_PROJECT", "PWD", "HF_TOKEN_PATH", "GIT_AUTHOR_NAME"])
def test_ordinary_variables_and_placeholders_are_left_alone(monkeypatch, name):
    monkeypatch.setenv(name, "an-ordinary-value")
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    assert redact("none of an-ordinary-value") == "none of an-ordinary-value"


@pytest.mark.parametrize("secret", ["p@ss-word", "a-long-word"])
def test_passwords_in_addresses_are_secret_in_any_variable(monkeypatch, secret):
    monkeypatch.setenv("STORE", f"postgresql://user:{secret}@host:5432/db")
    assert redact(f"postgresql://user:{secret}@host: wrong {secret}.") == "postgresql://user:[key]@host: wrong [key]."


def test_texts_at_any_depth_are_cleaned():
    assert redact_all({"a": [KEY, 1, ("x", f"<{KEY}>")], "b": None}) == {"a": ["[key]", 1, ("x", "<[key]>")], "b": None}


def test_an_error_and_what_led_to_it_lose_the_key():
    cause, error = ValueError(f"refused: {KEY}"), RuntimeError(f"request failed: {KEY}")
    error.body = {"message": KEY}
    error.__cause__, cause.__cause__ = cause, error  # as some libraries raise them
    redact_error(error)
    assert (str(error), error.body, str(cause)) == ("request failed: [key]", {"message": "[key]"}, "refused: [key]")
