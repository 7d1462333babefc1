"""A causal model that an OpenAI-compatible server runs: texts become tokens here, and the server says how probable.

The server gets the ids of tokens, so a text is cut up as it would be here, whatever the server does to texts. OpenAI's
own client does the requests, their retries and their time limits. Nothing of a key is kept: messages have ``[key]`` in
its place.
"""

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cxprobe.errors import DataError, ModelError
from cxprobe.files.code import computing_code
from cxprobe.lm.causal import CausalLM, CausalQuestions
from cxprobe.lm.checkpoints import Source
from cxprobe.lm.store import Answers, Batch
from cxprobe.lm.texts import HowToScore, Texts
from cxprobe.run.record import ModelFacts
from cxprobe.secrets import blot

if TYPE_CHECKING:
    from cxprobe.lm.params import ServedModel

# Plain letters: tokens of any tokenizer that knows English spell it alike, whatever signs it puts before them.
_TRIAL = "The more you look, the more you see."
_REQUESTS = 512  # in a batch; several are on their way at a time
_LOWEST = -9999.0  # what vLLM writes where a logarithm is minus infinity, which JSON does not have


@dataclass(frozen=True)
class ServedLM(CausalLM):
    """A causal model on a server; ``model`` is the client of the server, or None for a model that is only described.

    Attributes:
        slug: Its key in params.yaml, for messages.
        spec: What params say of it.
    """

    slug: str = field(kw_only=True)
    spec: "ServedModel" = field(kw_only=True)

    @property
    def facts(self) -> ModelFacts:
        """What the model is, for the record; the server does not tell how many weights it has."""
        return ModelFacts(self.name, self.kind, None, self.fingerprint, self.state, self.precision)

    @property
    def decisive(self) -> tuple[object, ...]:
        """What decides on its answers beside its weights: the code that asks, and what it reads before a text."""
        return (computing_code(type(self).__module__), self.bos)

    def questions(self, portions: Sequence[Texts], how: HowToScore) -> Iterator["ServedQuestions"]:
        """Yield what the model is asked to score the tokens of texts, a portion at a time."""
        for texts in portions:
            yield ServedQuestions(self, list(texts), how.token_budget)

    def log_probabilities(self, ids: Sequence[int]) -> NDArray[np.float64]:
        """Ask the server for the log-probability of each token but the first, given those before it.

        Args:
            ids: Shape (tokens,), at least two.

        Returns:
            Shape (tokens - 1,), natural logarithms.

        Raises:
            ModelError: The server does not answer, or not what was asked.
            DataError: A number is not finite.
        """
        return self._read(self._ask(ids), ids)

    def __str__(self) -> str:
        """Return how a message on the model begins."""
        return f"models.{self.slug}: '{self.name}' at {self.spec.url}"

    def _ask(self, ids: Sequence[int]) -> Mapping[str, Any]:
        """Send a request, and return the only choice of the answer."""
        from openai import OpenAIError

        try:
            # Some servers refuse to generate nothing. A temperature of 1 changes no probability.
            answer = self.model.completions.create(
                model=self.name, prompt=list(map(int, ids)), max_tokens=1, temperature=1.0, echo=True, logprobs=1
            )
            [choice] = answer.model_dump()["choices"]
        except OpenAIError as error:
            cause = f" ({error.__cause__})" if error.__cause__ else ""  # the client says "Connection error." alone
            reason = " ".join(f"{error}{cause}".split())[:400]
            raise ModelError(
                f"{self}: {blot(reason)}; look at the url, the name, the key ({self.spec.key}) and the "
                "server's log, and run the stage again: what was answered is kept"
            ) from None  # the error of the client has the whole request
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ModelError(f"{self}: its answer is no completion with one choice ({blot(str(error))})") from None
        return dict(choice)

    def _read(self, choice: Mapping[str, Any], ids: Sequence[int]) -> NDArray[np.float64]:
        """Return the log-probabilities of an answer, one a token but the first."""
        numbers = (choice.get("logprobs") or {}).get("token_logprobs") or []
        if len(numbers) <= min(2, len(ids) - 1):  # the generated token alone, or nothing
            raise ModelError(
                f"{self}: the server's answer has no log-probabilities of what it was sent, so it does not support "
                "echo: true with logprobs (llama.cpp and many providers do not); serve the model by vLLM, or ask it in "
                "words (section llms)"
            )
        numbers = numbers[: len(ids)] if len(numbers) == len(ids) + 1 else numbers
        text = self.tokenizer.decode(list(ids))
        if len(numbers) != len(ids) or None in numbers[1:]:
            raise ModelError(
                f"{self}: the server was sent {len(ids)} tokens and its answer is about "
                f"{len(numbers) - numbers[1:].count(None)} of them: {text!r}; nothing is guessed in their place, so "
                "look at whether the server cuts its input or reads it from a cache (vLLM: "
                f"--no-enable-prefix-caching), and whether models.{self.slug}.tokenizer is the model's own"
            )
        log_probs = np.array(numbers[1:], dtype=np.float64)
        wrong = np.flatnonzero(~np.isfinite(log_probs) | (log_probs <= _LOWEST) | (log_probs > 1e-4))
        if len(wrong):
            raise DataError(
                f"{self}: the server gave {log_probs[wrong[0]]} as the log-probability of token {wrong[0] + 1} of "
                f"{text!r}; look at the server's precision and its log"
            )
        return np.minimum(log_probs, 0.0)

    def require_own_tokens(self, ids: Sequence[int]) -> None:
        """Refuse a server that means other tokens by the same ids, which would score another text.

        Raises:
            ModelError: It does, or it does not answer.
        """
        choice = self._ask(ids)
        self._read(choice, ids)
        named = choice["logprobs"].get("tokens") or []
        for id_, theirs in list(zip(ids, map(str, named), strict=False))[1:]:
            ours = self.tokenizer.decode([id_])
            if _letters(theirs) not in ("", _letters(ours)) and theirs != f"token_id:{id_}":
                raise ModelError(
                    f"{self}: token {id_} is {theirs!r} for the server and {ours!r} for "
                    f"models.{self.slug}.tokenizer ({self.spec.tokenizer}); take the tokenizer of the served model"
                )


class ServedQuestions(CausalQuestions):
    """The questions about the tokens of texts, put to a server in several requests at a time."""

    def batches(self, keys: Sequence[bytes]) -> list[Batch]:
        """Return some of the texts in batches, in their order."""
        return [Batch(keys[start : start + _REQUESTS], self._request) for start in range(0, len(keys), _REQUESTS)]

    def _request(self, model: ServedLM, wanted: Collection[bytes]) -> Iterator[Answers]:
        """Yield answers as they come: key -> the log-probability of each id but the first, shape (length - 1,).

        The client sends again what failed. If a request fails in the end, those that are on their way are waited for
        and handed on, so that they are kept; then the failure is raised.

        Raises:
            ModelError: See `ServedLM.log_probabilities`.
            DataError: Likewise.
        """
        fault: BaseException | None = None
        with ThreadPoolExecutor(model.spec.connections) as pool:
            requests = {pool.submit(model.log_probabilities, self.ids_of(key)): key for key in wanted}
            try:
                for request in as_completed(requests):
                    if request.cancelled():
                        continue
                    if request.exception() is None:
                        yield {requests[request]: request.result()}
                    elif fault is None:
                        fault = request.exception()
                        _cancel(requests)
            finally:
                _cancel(requests)
        if fault is not None:
            raise fault


def _cancel(requests: Iterable[Future[NDArray[np.float64]]]) -> None:
    """Send none of the requests that are not on their way yet."""
    for request in requests:
        request.cancel()


def describe_served(slug: str, spec: "ServedModel", source: Source) -> ServedLM:
    """Return a model on a server that cannot be asked: it has its tokenizer and its fingerprint, but no client.

    Arguments are those of `open_served`.
    """
    tokenizer = source.tokenizer
    vocabulary = hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode()).hexdigest()
    return ServedLM(
        spec.name,
        None,
        tokenizer,
        f"{spec.weights}, served as {spec.name} at {spec.url}, tokenizer sha256 {vocabulary}",
        spec.max_tokens - 1,
        precision="as served",
        bos=spec.bos,
        slug=slug,
        spec=spec,
    )


def open_served(slug: str, spec: "ServedModel", source: Source) -> ServedLM:
    """Return a model on a server, after a trial that shows whether it can be asked.

    Args:
        slug: Its key in params.yaml, for messages.
        spec: What params say of it.
        source: Where its tokenizer comes from.

    Raises:
        ModelError: The client is not installed, the key is not in the environment, the server does not answer, does
            not give the probabilities of what it is sent, or means other tokens by the same ids.
    """
    if find_spec("openai") is None:
        raise ModelError(f"models.{slug}: the package openai is not installed; pip install 'cxprobe[prompting]'")
    from openai import OpenAI

    if spec.key and not os.environ.get(spec.key):
        raise ModelError(f"models.{slug}.key: the environment variable {spec.key} is not set; export it, or write null")
    client = OpenAI(
        api_key=os.environ[spec.key] if spec.key else "none",  # otherwise it takes OPENAI_API_KEY, meant for another
        base_url=spec.url,
        max_retries=spec.retries,
        timeout=spec.timeout,
    )
    model = replace(describe_served(slug, spec, source), model=client)
    model.require_own_tokens(source.tokenizer(_TRIAL, add_special_tokens=False)["input_ids"])
    return model


def _letters(token: str) -> str:
    """Return the plain letters of a token, without the signs that a tokenizer puts around them."""
    return "".join(sign for sign in token.lower() if sign.isascii() and sign.isalnum())
