"""A store of the raw numbers that a model gave, so that none of them is computed twice.

What a model was asked is named by a key (`key_of`). An answer is an array of numbers: one, those of a text's tokens, or
the vectors of all layers. Answers are written to files as they come: a killed run goes on where it stopped, and a
corrected text costs only itself. Every file is written whole or not at all, under the digest of its content, and never
changed or removed. So several processes can use one store at the same time, on a shared disk too, and a damaged file is
noticed. Only keys are held in memory; numbers are mapped into it.
"""

import hashlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from cxprobe.errors import DataError
from cxprobe.files.writing import SCRATCH, digest, project_folder, scratch_folder, write_bytes
from cxprobe.run.processes import ALONE, Processes

if TYPE_CHECKING:
    from cxprobe.models.loading import LoadedModel

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
Numbers = NDArray[np.float64] | NDArray[np.float32]
Answers = Mapping[bytes, Numbers]
"""Key of a question -> its answer, shape (numbers, ...)."""
OnProgress = Callable[..., object]
"""Called with the number of texts finished since the last call; known=True if they were found in the store."""

_KEY_BYTES = 16
_SUFFIX = ".answers"
_SECONDS = 5.0  # between the first two writes: the most work that a killed process loses in its first minutes
_GROWTH = 1.02  # of these seconds with each write, so that some hundred files hold the work of a day
_MOST_BYTES = 2**26  # of answers that are not written yet


def key_of(*parts: NDArray[np.int32]) -> bytes:
    """Return the key of a question to a model, 16 bytes.

    Args:
        parts: All that the answer follows from, in a fixed order; they must not run into each other.
    """
    return hashlib.blake2b(b"".join(part.tobytes() for part in parts), digest_size=_KEY_BYTES).digest()


def answers_folder(slug: str, model: "LoadedModel", kind_of_device: str) -> Path:
    """Return the folder of a model's answers, in the project's scratch folder.

    It is named by everything that decides on a number beside what is asked: weights, configuration, precision, the kind
    of device, the code that computes, and the versions of PyTorch and transformers.

    Args:
        slug: The model's key in params.yaml, for the eye.
        model: The model; its weights are not needed.
        kind_of_device: What computes.
    """
    decisive = (model.kind, model.fingerprint, *model.decisive, kind_of_device)
    folder = scratch_folder(project_folder() / SCRATCH / "answers", *decisive)
    return folder.with_name(f"{slug}-{folder.name}")


_File = tuple[NDArray[np.bytes_], NDArray[np.int64], Numbers]
"""The answers of one file: their keys, sorted; where in the numbers each begins, and the last ends; and the numbers of
all answers, shape (numbers, ...), mapped into memory."""


class AnswerStore:
    """The answers of one model in one folder.

    It is a context manager: what was added is on disk at the latest when the block is left, also by an exception.

    Attributes:
        folder: Where its files are; None for a store in memory.
        asked: The keys that were asked for until now: other processes may be computing those that are not known.
    """

    def __init__(self, folder: Path | None = None, *, seconds: float = _SECONDS) -> None:
        """Open a store; a folder that does not exist is an empty one.

        Args:
            folder: Named by all that decides on an answer beside what is asked (see `answers_folder`); None to keep
                answers in memory alone.
            seconds: The time between the first two writes; it grows a little with each.
        """
        self.folder = folder
        self.asked: set[bytes] = set()
        self._seconds = seconds
        self._written = time.monotonic()
        self._new: dict[bytes, Numbers] = {}  # not on disk yet
        self._bytes = 0  # of these
        self._files: list[_File] | None = None if folder else []  # None until they are read

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(self, *_: object) -> None:
        """Write the answers that are not on disk yet."""
        self.write()

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Numbers]:
        """Return the answers that are known, by their keys.

        The files of others are read once, at the first call; what this process adds later is found too.
        """
        if self._files is None and self.folder:
            self._files = list(_read_all(self.folder))
        answers = {key: self._new[key] for key in keys if key in self._new}
        wanted = np.array(keys, dtype=f"S{_KEY_BYTES}")
        for known, bounds, numbers in self._files or ():
            rows = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            hits = np.flatnonzero(known[rows] == wanted)
            for hit, row in zip(hits.tolist(), rows[hits].tolist(), strict=True):
                answers[keys[hit]] = numbers[bounds[row] : bounds[row + 1]]
        return answers

    def add(self, answers: Answers) -> list[bytes]:
        """Keep answers, by their keys; they are on disk some seconds later.

        Args:
            answers: Each of shape (numbers, ...).

        Returns:
            The keys of answers that are not finite. These are left out, so that they will be asked again.
        """
        finite = {key: numbers for key, numbers in answers.items() if np.isfinite(numbers).all()}
        self._new |= finite
        self._bytes += sum(numbers.nbytes for numbers in finite.values())
        if time.monotonic() - self._written >= self._seconds or self._bytes >= _MOST_BYTES:
            self.write()
        return [key for key in answers if key not in finite]

    def write(self) -> None:
        """Write the answers that were added and are not on disk yet."""
        self._written = time.monotonic()
        if self.folder is None or not self._new:
            return
        keys = sorted(self._new)
        answers, content = [self._new[key] for key in keys], BytesIO()
        bounds = np.cumsum([0, *map(len, answers)], dtype=np.int64)
        for array in (np.array(keys, dtype=f"S{_KEY_BYTES}"), bounds, np.concatenate(answers)):
            np.save(content, array)
        path = self.folder / f"{hashlib.sha256(content.getbuffer()).hexdigest()}{_SUFFIX}"
        write_bytes(content.getvalue(), path)
        if self._files is not None:
            self._files.append(_map(path))
        self._new, self._bytes = {}, 0
        self._seconds *= _GROWTH


def _read_all(folder: Path) -> Iterator[_File]:
    """Read the files of a store."""
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        try:
            if digest(path) != path.name.partition(".")[0]:
                raise ValueError("its content is not what its name says")
            yield _map(path)
        except (OSError, EOFError, ValueError) as fault:
            warnings.warn(f"{path} is damaged ({fault}); its answers are computed again, so delete it", stacklevel=2)


def _map(path: Path) -> _File:
    """Read the keys of a file and map its numbers into memory; nothing that holds pickled objects is opened."""
    with path.open("rb") as file:
        keys = np.load(file, allow_pickle=False)
        bounds = np.load(file, allow_pickle=False)
        np.lib.format.read_magic(file)
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if not len(keys) or len(bounds) != len(keys) + 1 or bounds[-1] != shape[0] or dtype.kind != "f":
            raise ValueError("its arrays are empty or do not belong together")
        return keys, bounds, np.asarray(np.memmap(file, dtype, "r", file.tell(), shape))


def token_budget_batches(lengths: Sequence[int], budget: int, *, padded: bool = True) -> list[list[int]]:
    """Group inputs of similar length, the longest first, so that no batch is larger than the budget.

    The longest batch comes first, so that a budget that does not fit into memory fails at once and not after hours.

    Args:
        lengths: Tokens of each input, padding aside.
        budget: The most tokens, padding included, in a batch; a longer input makes a batch of its own.
        padded: Whether a batch may hold inputs of several lengths; else all of a batch have one length.

    Returns:
        Positions in ``lengths``; each occurs exactly once.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable").tolist()
    batches: list[list[int]] = []
    widest = 0  # the batch's first input is its longest: all others are padded to it
    for position in order:
        fits = (len(batches[-1]) + 1) * widest <= budget if batches else False
        if fits and (padded or lengths[position] == widest):
            batches[-1].append(position)
        else:
            batches.append([position])
            widest = lengths[position]
    return batches


class Questions(Protocol[R_co]):
    """Questions about some texts, and the result R_co of their answers, such as the scores of tokens.

    Attributes:
        texts: The texts.
        text_of: The key of each distinct question, in the order of asking -> the text that it is about, for messages.
    """

    texts: Sequence[str]
    text_of: dict[bytes, str]

    def batches(self, keys: Sequence[bytes]) -> list[list[bytes]]:
        """Return some of the questions, at least one, in batches that do not depend on the answers in the store."""
        ...

    def compute(self, model: Any, wanted: Sequence[bytes]) -> Answers:
        """Return the answers to questions of one batch, in their order there, by one forward pass where possible."""
        ...

    def read(self, answers: Answers) -> Iterable[R_co]:
        """Return the result of the answers to all questions."""
        ...


def answer(
    ask: Callable[[], Iterable[Questions[R]]],
    model: "Callable[[], LoadedModel]",
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
    report: OnProgress = progress or (lambda *_, **__: None)
    results: list[R] = []
    for number, questions in enumerate(ask()):
        keys = list(questions.text_of)
        answers = store.find(keys)
        share = len(questions.texts) / max(len(keys), 1)  # a question is so much of a text
        report(len(answers) * share, known=True)
        new = [key for key in keys if key not in store.asked]
        store.asked.update(new)
        if any(key not in answers for key in new):
            # Batches are numbered from the portion's number, so that first batches go to different processes.
            for position, batch in enumerate(questions.batches(new), start=number):
                wanted = [key for key in batch if key not in answers] if processes.has(position) else []
                if not wanted:
                    continue
                for key in store.add(questions.compute(model(), wanted)):
                    text = questions.text_of[key]
                    raise DataError(f"{text!r}: the model gave a number that is not finite; try float32")
                report(len(wanted) * processes.of * share)
            answers = store.find(keys)
        if processes.of == 1:
            results += questions.read(answers)
    if processes.of == 1:
        return results
    store.write()
    processes.wait()
    if processes.number:
        return []
    with AnswerStore(store.folder) as anew:  # which has the files of other processes: they have computed their part
        return answer(ask, model, anew)
