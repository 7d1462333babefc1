"""Prompts and replies of instructed models: inspect_ai does the requests, retries, limits and cache."""

import errno
import json
import os
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cxprobe.errors import ModelError
from cxprobe.files.writing import full_disk
from cxprobe.models.checkpoints import PACKAGED, Source, path_of
from cxprobe.models.params import Llm
from cxprobe.run.progress import progress
from cxprobe.secrets import redact, redact_all, redact_error

MOCK = "mockllm/model"  # inspect's model for tests: no request leaves the machine
_LOCAL = "hf/"  # inspect's provider of models that transformers runs on this machine
TRIED = 3  # questions that are put before the others; a single one may be refused because of its content
CHARACTERS_PER_TOKEN = 4  # of English, roughly; a model's own tokenizer may be on a server


def demand(questions: Sequence[str], llm: Llm) -> str:
    """Return the most requests and tokens that prompts cost, before the first request."""
    characters = sum(map(len, questions))
    return (
        f"{len(questions):,} requests at most, about {characters // CHARACTERS_PER_TOKEN:,} input tokens and at most "
        f"{len(questions) * llm.max_tokens:,} output tokens; questions that an earlier run has put are not asked again"
    )


def open_llm(llm: Llm) -> Any:
    """Return inspect's handle of a model, without sending a request.

    Raises:
        ModelError: inspect_ai does not know the model, or there is no API key.
    """
    from inspect_ai._util.error import PrerequisiteError  # it has no public name
    from inspect_ai.model import GenerateConfig, ModelInfo, ModelOutput, ModelUsage, get_model, set_model_info

    config = GenerateConfig(
        temperature=0.0,
        max_tokens=llm.max_tokens,
        max_connections=llm.connections,
        max_retries=llm.retries,
        timeout=llm.timeout,
    )
    arguments: dict[str, Any] = dict(llm.arguments)
    if llm.name == MOCK:
        said = str(arguments.pop("reply", ""))

        def say(*_: Any) -> ModelOutput:
            output = ModelOutput.from_content(MOCK, said)
            output.usage = ModelUsage()  # inspect would fetch a tokenizer to count
            return output

        arguments["custom_outputs"] = say
    if llm.name.startswith(_LOCAL):
        arguments.setdefault("do_sample", False)  # inspect's provider would draw, whatever the temperature is
        if spec := PACKAGED.get(llm.name.removeprefix(_LOCAL)):
            from cxprobe.models.loading import dequantised  # which brings torch

            arguments["model_path"] = dequantised(Source(llm.name, spec, path_of(llm.name, spec.name))).path
            set_model_info(llm.name, ModelInfo())  # or inspect would look for the name on the hub
    try:
        model = get_model(llm.name, config=config, base_url=llm.base_url, memoize=False, **arguments)
    except (PrerequisiteError, ValueError, ImportError, OSError) as fault:
        without_styles = re.sub(r"\[/?[a-z][a-z ]*\]", "", str(getattr(fault, "message", fault)))
        reason = " ".join(without_styles.split())
        advice = "a name is <provider>/<model>; install its package and set its key"
        raise ModelError(f"{llm.name}: {reason} ({advice})") from None
    model.api.generate = _checked(model.api.generate)
    return model


def _checked(generate: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Return a provider's ``generate`` that removes keys of the environment from replies, and raises without a reply.

    Servers repeat keys that they refuse, and some whole requests; and inspect would pass on the text of an error as a
    reply. Inspect caches replies and logs errors, and would never ask again, so this is before it sees them.
    """

    async def asked(*arguments: Any, **options: Any) -> Any:
        try:
            result = await generate(*arguments, **options)
        except Exception as error:
            redact_error(error)
            raise
        output = result[0] if isinstance(result, tuple) else result
        if isinstance(output, Exception):
            redact_error(output)
            return result
        clean = type(output).model_validate(redact_all(output.model_dump()))
        if not clean.choices:
            raise RuntimeError(f"no choices in the provider's answer; {clean.error or 'no reason was given'}")
        # A reply that is cut by max_tokens is one.
        if clean.error is not None or clean.stop_reason in ("model_length", "content_filter"):
            raise RuntimeError(f"{clean.stop_reason}: {clean.error or clean.completion}")
        if not clean.completion.strip():
            raise RuntimeError("the reply has no text")
        return (clean, *result[1:]) if isinstance(result, tuple) else clean

    return asked


def replies_to(questions: pd.DataFrame, llm: Llm, scratch: Path, what: str) -> pd.DataFrame:
    """Prompt a model, show the progress, and return a reply, or a failure, to each question, in their order.

    Replies are kept in ``scratch`` at once: a run that was interrupted goes on from there and asks nothing again that
    was answered; what failed is asked again. A few questions are put first: a server that answers none of them does
    not know the model or the key, or is down, and is not asked the rest.

    Args:
        questions: One row a question: id, and question, the whole prompt.
        llm: The model.
        scratch: A folder of this model's.
        what: The text of the progress bar: the stage, the model and what it is asked about.

    Returns:
        One row a question: id; reply, "" if there is none; failed, whether there is none: the request failed after all
        retries, the provider refused it as too long or filtered the reply, or the reply has no text;
        and error, why, or "".

    Raises:
        ModelError: See `open_llm`; or none of the first questions was answered, the run broke down, or a question has
            neither a reply nor an error.
        OSError: The disk of ``scratch`` is full.
    """
    model = open_llm(llm)
    first, others = questions[:TRIED], questions[TRIED:]
    with progress(len(questions), "questions", what, kept=f"kept in {scratch}") as shown:
        replies = _put(first, llm, model, scratch, shown.update)
        if replies["failed"].all():
            reason = replies["error"].iloc[0].strip().splitlines()[-1]  # the lines before it are the whole request
            what = f"none of the first {len(replies)} questions was answered, so no more were put: {reason}"
            raise ModelError(f"{llm.name}: {what}; see to its name, base_url, key and server, and run the stage again")
        rest = [] if others.empty else [_put(others, llm, model, scratch, shown.update)]
    return pd.concat([replies, *rest], ignore_index=True)


def _put(
    questions: pd.DataFrame, llm: Llm, model: Any, scratch: Path, progress: Callable[[int], object]
) -> pd.DataFrame:
    """Return the replies to at least one question, see `replies_to`."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import CachePolicy
    from inspect_ai.solver import generate, solver

    here = str(scratch.absolute())
    # The only way to tell inspect. On a full disk its traces would print tracebacks, so there are none.
    trace = scratch.absolute() / "trace.log"
    os.environ |= {"INSPECT_CACHE_DIR": here, "INSPECT_TRACE_FILE": str(trace), "INSPECT_TRACE_LEVEL": "critical"}
    os.environ["XDG_DATA_HOME"] = here  # on Linux, of what else inspect writes
    scratch.mkdir(parents=True, exist_ok=True)
    ids = questions["id"].astype(str).tolist()
    prompts = [Sample(input=text, id=id_) for id_, text in zip(ids, questions["question"], strict=True)]
    arguments = json.dumps(llm.arguments, sort_keys=True)  # inspect's own key of the cache leaves them out
    put = generate("none", cache=CachePolicy(expiry=None, scopes={"arguments": arguments}))

    @solver  # type: ignore[untyped-decorator]
    def counted() -> Any:
        async def solve(state: Any, _: Any) -> Any:
            try:
                return await put(state, _)
            finally:
                progress(1)

        return solve

    task = Task(dataset=MemoryDataset(prompts), solver=counted())
    try:
        log = evaluate(
            task,
            model=model,
            score=False,
            fail_on_error=False,
            max_samples=llm.connections,
            display="none",
            log_level="error",
            log_model_api=False,  # whole requests and answers, in which keys can be
            log_realtime=False,  # a database beside the log, whose errors on a full disk have several names
            log_dir=f"{here}/logs",
        )[0]
    finally:
        trace.unlink(missing_ok=True)  # or inspect would compress it when Python ends
    samples = {str(sample.id): sample for sample in log.samples or []}
    lost = set(ids) - samples.keys()
    if log.status != "success" or lost:
        reason = log.error.message if log.error else f"no reply to {len(lost)} questions"
        if full_disk(RuntimeError(reason)):  # inspect passes on the text of an error alone
            raise OSError(errno.ENOSPC, reason, str(scratch))
        raise ModelError(f"{llm.name}: {reason}; the replies so far are kept, so run the stage again")
    rows = []
    for id_ in ids:
        error = samples[id_].error
        reply = "" if error else samples[id_].output.completion
        rows.append((id_, reply, error is not None, redact(error.message) if error else ""))
    return pd.DataFrame(rows, columns=["id", "reply", "failed", "error"])
