"""What a model answers to questions: found in its store, or computed and kept there, for every kind of question."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

from cxprobe.errors import DataError
from cxprobe.lm.language_models import LoadedModel
from cxprobe.lm.store import Answers, AnswerStore, Questions
from cxprobe.run.processes import WHOLE, Share

R = TypeVar("R")
OnProgress = Callable[..., object]
"""Is called with the number of texts that have been finished since the last call; known=True if none was computed."""


def answer(
    ask: Callable[[], Iterable[Questions[R]]],
    model: Callable[[], LoadedModel],
    store: AnswerStore | None = None,
    *,
    share: Share = WHOLE,
    read: bool = True,
    progress: OnProgress | None = None,
    recall: Callable[[], object] | None = None,
) -> list[R]:
    """Let a model answer the questions whose answers are not known, and return what becomes of all answers.

    Batches are planned from all questions, whatever is known, and of each what is missing is computed as a whole by one
    process. So numbers do not depend on how many processes there are, or on which of them were killed, and a question
    that is new costs only itself.

    Args:
        ask: Returns the questions, in portions that are planned apart.
        model: Returns the model with its weights; only called if an answer is missing.
        store: Where earlier answers are looked up and new ones kept; None to compute all.
        share: The batches that this process computes, where several processes answer.
        read: Whether the answers are read; a process that only helps to fill the store does not.
        progress: Is called with the number of texts that have been finished, known ones first; of several processes
            each estimates those of the others by its own.
        recall: Is called once, if an answer is missing, before anything is computed: it may fill the store.

    Returns:
        What `Questions.read` makes of the answers.

    Raises:
        DataError: A number is not finite.
    """
    store = AnswerStore() if store is None else store
    results: list[R] = []
    for number, questions in enumerate(ask()):
        keys = list(questions.text_of)
        answers = store.find(keys)
        if recall and len(answers) < len(keys):
            recall()
            recall, answers = None, store.find(keys)
        report = _in_proportion(progress, len(questions.texts), len(keys))
        report(len(answers), known=True)
        new = [key for key in keys if key not in store.asked]
        store.asked.update(new)
        if any(key not in answers for key in new):
            # The first batches of the portions go to different processes.
            for position, batch in enumerate(questions.batches(new), start=number):
                wanted = [key for key in batch.keys if key not in answers] if share.has(position) else []
                for computed in batch.compute(model(), wanted) if wanted else ():
                    for key in store.add(computed):
                        raise DataError(
                            f"{questions.text_of[key]!r}: the model gave a number that is not finite; "
                            "try dtype: float32"
                        )
                    report(len(computed) * share.of)
            answers = store.find(keys)
        if read:
            results += questions.read(answers)
    return results


def _in_proportion(progress: OnProgress | None, texts: int, parts: int) -> OnProgress:
    """Return a function that is called with finished questions and reports the same share of the texts."""
    finished, parts = 0, max(parts, 1)

    def report(n: int, **known: bool) -> None:
        nonlocal finished
        before, finished = texts * finished // parts, min(finished + n, parts)
        if progress is not None and (step := texts * finished // parts - before):
            progress(step, **known)

    return report


class Record(NamedTuple):
    """What a stage writes of a model's answers, from which they can be read back.

    Attributes:
        folder: Where it is written.
        how: How the model is asked, as far as neither its store nor the texts tell, such as "bos: add".
        read: Reads from a folder with the files that an earlier run wrote, if it asked in this way, answers by their
            keys.
    """

    folder: Path
    how: str
    read: Callable[[Path], Iterable[Answers]]
