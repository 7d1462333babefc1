"""Answers to questions of any kind: from the model's store, or computed and stored."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from cxprobe.errors import DataError
from cxprobe.models.language_models import LoadedModel
from cxprobe.models.store import AnswerStore, Questions
from cxprobe.run.processes import ALONE, Processes

R = TypeVar("R")
OnProgress = Callable[..., object]
"""Called with the number of texts finished since the last call; known=True if they were found in the store."""


def answer(
    ask: Callable[[], Iterable[Questions[R]]],
    model: Callable[[], LoadedModel],
    store: AnswerStore | None = None,
    *,
    processes: Processes = ALONE,
    progress: OnProgress | None = None,
) -> list[R]:
    """Return the results of all questions; the model computes only answers that are not in the store.

    Batches are planned from all questions, whether their answers are known or not. Then one process computes the
    missing answers of a batch. So numbers do not depend on how many processes there are or which of them were killed,
    and a new question costs no more than its own computation.

    Args:
        ask: Returns the questions, in portions; each portion has its own batches.
        model: Returns the model with its weights; only called if an answer is missing.
        store: Has the earlier answers and keeps new ones; None to compute all answers.
        processes: Which of the processes this is, if there are several: each computes its batches. Then the first reads
            the answers of all, and computes what others could not store.
        progress: Called with the number of texts that have been finished, known ones first. With several processes,
            each assumes that the others are as fast as itself.

    Returns:
        The results of `Questions.read` for all portions; nothing in a process that only helps to fill the store.

    Raises:
        DataError: A number is not finite.
    """
    store = AnswerStore() if store is None else store
    results: list[R] = []
    for number, questions in enumerate(ask()):
        keys = list(questions.text_of)
        answers = store.find(keys)
        report = _in_proportion(progress, len(questions.texts), len(keys))
        report(len(answers), known=True)
        new = [key for key in keys if key not in store.asked]
        store.asked.update(new)
        if any(key not in answers for key in new):
            # Batches are numbered from the portion's number, so that first batches go to different processes.
            for position, batch in enumerate(questions.batches(new), start=number):
                wanted = [key for key in batch.keys if key not in answers] if processes.has(position) else []
                if not wanted:
                    continue
                for key in store.add(batch.compute(model(), wanted)):
                    raise DataError(
                        f"{questions.text_of[key]!r}: the model gave a number that is not finite; try float32"
                    )
                report(len(wanted) * processes.of)
            answers = store.find(keys)
        if processes.of == 1:
            results += questions.read(answers)
    if processes.of == 1:
        return results
    store.write()
    processes.wait()
    if processes.number:
        return []
    store.look_again()
    return answer(ask, model, store)


def _in_proportion(progress: OnProgress | None, texts: int, parts: int) -> OnProgress:
    """Return a function that takes a number of finished questions and reports the same fraction of the texts."""
    finished, parts = 0, max(parts, 1)

    def report(n: int, **known: bool) -> None:
        nonlocal finished
        before, finished = texts * finished // parts, min(finished + n, parts)
        if progress is not None and (step := texts * finished // parts - before):
            progress(step, **known)

    return report
