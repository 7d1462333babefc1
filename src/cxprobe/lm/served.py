"""A causal model that an OpenAI-compatible server runs: texts become tokens here, and the server says how probable.

The server gets the ids of tokens, so a text is cut up as it would be here, whatever the server does to texts. OpenAI's
own client does the requests, their retries and their time limits. Nothing of a key is kept: messages have ``[key]`` in
its place.
"""

import hashlib
import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import islice
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
_REQUESTS = 512  # of which several are on their way at a time
_LOWEST = -9999.0  # what vLLM writes where a logarithm is minus infinity, which JSON does not have
_HOW = {
    "echo": "echo: true with logprobs and the prompt's tokens in its answer (vLLM has it; llama.cpp and many providers "
    "do not)",
    "prompt_logprobs": "prompt_logprobs (vLLM has it)",
}


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
        """What decides on its answers beside its weights: how it is asked, and the code that asks."""
        return (self.spec.likelihoods, computing_code(type(self).__module__))

    def questions(self, portions: Sequence[Texts], how: HowToScore) -> Iterator["ServedQuestions"]:
        """Yield what the model is asked to score the tokens of texts, a portion at a time."""
        for texts in portions:
            yield ServedQuestions(self, list(texts), how.bos, how.token_budget)

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
        choice = self._ask(ids)
        found = self._of_echo(choice, ids) if self.spec.likelihoods == "echo" else self._of_prompt(choice, ids)
        for place, number in enumerate(found, 1):
            if not math.isfinite(number) or number <= _LOWEST or number > 1e-4:
                raise DataError(
                    f"{self}: the server gave {number} as the log-probability of token {place} of "
                    f"{self.tokenizer.decode(list(ids))!r}; look at the server's precision and its log"
                )
        return np.minimum(np.array(found, dtype=np.float64), 0.0)

    def __str__(self) -> str:
        """Return how a message on the model begins."""
        return f"models.{self.slug}: '{self.name}' at {self.spec.url}"

    def _ask(self, ids: Sequence[int]) -> Mapping[str, Any]:
        """Send a request, and return the only choice of the answer."""
        from openai import OpenAIError

        how: dict[str, Any] = {"echo": True, "logprobs": 1}
        if self.spec.likelihoods == "prompt_logprobs":
            how = {"extra_body": {"prompt_logprobs": 1}}
        try:
            # Some servers refuse to generate nothing. A temperature of 1 changes no probability.
            answer = self.model.completions.create(
                model=self.name, prompt=list(map(int, ids)), max_tokens=1, temperature=1.0, **how
            )
            [choice] = answer.model_dump()["choices"]
        except OpenAIError as error:
            raise ModelError(
                f"{self}: {blot(_reason(error))}; look at the url, the name, the key ({self.spec.key}) and the "
                "server's log, and run the stage again: what was answered is kept"
            ) from None  # the error of the client has the whole request
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ModelError(f"{self}: its answer is no completion with one choice ({blot(str(error))})") from None
        return dict(choice)

    def _of_echo(self, choice: Mapping[str, Any], ids: Sequence[int]) -> list[float]:
        numbers = (choice.get("logprobs") or {}).get("token_logprobs") or []
        if len(numbers) <= 2 < len(ids):  # the generated token alone, or nothing
            raise self._unable()
        self._require_all(len(numbers) in (len(ids), len(ids) + 1), len(numbers), ids)
        self._require_all(None not in numbers[1 : len(ids)], len(numbers) - numbers.count(None), ids)
        return [float(number) for number in numbers[1 : len(ids)]]

    def _of_prompt(self, choice: Mapping[str, Any], ids: Sequence[int]) -> list[float]:
        places = choice.get("prompt_logprobs")
        if not places:
            raise self._unable()
        self._require_all(len(places) == len(ids), len(places), ids)
        found: list[Any] = [(place or {}).get(str(number)) for place, number in zip(places[1:], ids[1:], strict=True)]
        self._require_all(None not in found, len(found) - found.count(None) + 1, ids)
        return [float(one["logprob"] if isinstance(one, Mapping) else one) for one in found]

    def _unable(self) -> ModelError:
        other = {"echo": "prompt_logprobs", "prompt_logprobs": "echo"}[self.spec.likelihoods]
        return ModelError(
            f"{self}: the server's answer has no log-probabilities of what it was sent; it must support "
            f"{_HOW[self.spec.likelihoods]}: try models.{self.slug}.likelihoods: {other}, serve the model by vLLM, or "
            "ask it in words (section llms)"
        )

    def _require_all(self, right: bool, number: int, ids: Sequence[int]) -> None:
        if not right:
            raise ModelError(
                f"{self}: the server was sent {len(ids)} tokens and its answer is about {number} of them: "
                f"{self.tokenizer.decode(list(ids))!r}; nothing is guessed in their place, so look at whether the "
                "server cuts its input or reads it from a cache (vLLM: --no-enable-prefix-caching), and whether "
                f"models.{self.slug}.tokenizer is the model's own"
            )

    def require_own_tokens(self, ids: Sequence[int]) -> None:
        """Refuse a server that means other tokens by the same ids, which would score another text.

        Raises:
            ModelError: It does, or it does not answer.
        """
        self.log_probabilities(ids)
        choice = self._ask(ids)
        if self.spec.likelihoods == "echo":
            said = (choice.get("logprobs") or {}).get("tokens") or []
        else:
            places = zip(choice["prompt_logprobs"][1:], ids[1:], strict=True)
            named = [place[str(number)] for place, number in places]
            said = ["", *(one.get("decoded_token") or "" for one in named if isinstance(one, Mapping))]
        own = [self.tokenizer.decode([number]) for number in ids]
        for place, (theirs, ours) in enumerate(zip(said, own, strict=False)):
            alike = _letters(str(theirs)) in ("", _letters(ours)) or str(theirs) == f"token_id:{ids[place]}"
            if place and not alike:
                raise ModelError(
                    f"{self}: token {ids[place]} is {theirs!r} for the server and {ours!r} for "
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
        left = iter(wanted)
        running: dict[Future[NDArray[np.float64]], bytes] = {}
        with ThreadPoolExecutor(model.spec.connections) as pool:
            while True:
                room = 0 if fault else 2 * model.spec.connections - len(running)  # a worker finds its next at once
                running |= {pool.submit(model.log_probabilities, self.ids_of(key)): key for key in islice(left, room)}
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for one in done:
                    key = running.pop(one)
                    if one.cancelled():
                        continue
                    failed = one.exception()
                    if failed is None:
                        yield {key: one.result()}
                    elif fault is None:
                        fault = failed
                        for other in running:
                            other.cancel()
        if fault is not None:
            raise fault


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


def _reason(error: Exception) -> str:
    """Return an error of the client in one line, with what led to it: its own text is "Connection error." alone."""
    first = error.__cause__
    return " ".join(f"{error}{f' ({first})' if first else ''}".split())[:400]
