"""A store of the raw numbers that a model gave, so that none of them is computed twice.

What a model was asked is named by a key (`key_of`), and the answer is one number or several. Answers are appended to
files as they come: a killed run goes on where it stopped, and a corrected text costs only itself. Every file is written
by one process under a name of its own, whole or not at all, so several processes can use one store at the same time,
on a shared disk too.
"""

import hashlib
import time
import uuid
import warnings
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from cxprobe.files.writing import SCRATCH, DiskFullError, project_folder, replacing, scratch_folder
from cxprobe.lm.language_models import CausalLM, MaskedLM
from cxprobe.lm.served import ServedLM
from cxprobe.run.processes import WHOLE, Count, Processes, Share

_KEY_BYTES = 16
_SECONDS = 5.0  # between two writes: the most work that a killed process loses
_MOST_FILES = 64  # small files that one process keeps before it joins them
_DAMAGED = (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile)


def key_of(*parts: NDArray[np.int32]) -> bytes:
    """Return the key, 16 bytes, of what a model is asked.

    Args:
        parts: All that the answer follows from, in a fixed order; at most one of them may vary in length.
    """
    return hashlib.blake2b(b"".join(part.tobytes() for part in parts), digest_size=_KEY_BYTES).digest()


def answers_folder(slug: str, *parts: object) -> Path:
    """Return the folder of a model's answers, in the project's scratch folder.

    Args:
        slug: The model's key in params.yaml, for the eye.
        parts: All that decides on an answer beside what is asked: weights, precision and the like; their ``repr`` tells
            them apart.
    """
    folder = scratch_folder(project_folder() / SCRATCH / "answers", *parts)
    return folder.with_name(f"{slug}-{folder.name}")


class _Segment(NamedTuple):
    """Answers in the order of their keys.

    Attributes:
        keys: Shape (answers,), sorted.
        bounds: Shape (answers + 1,): an answer's numbers are those from its bound to the next.
        numbers: The numbers of all answers.
    """

    keys: NDArray[np.bytes_]
    bounds: NDArray[np.int64]
    numbers: NDArray[np.float64]


class AnswerStore:
    """The answers of one model in one folder.

    It is a context manager: what was added is on disk at the latest when the block is left, also by an exception, and
    a block that ends well leaves one file.

    Attributes:
        folder: Where its files are.
        kept: How many answers this process has added.
    """

    def __init__(self, folder: Path, *, seconds: float = _SECONDS) -> None:
        """Open a store; a folder that does not exist is an empty one.

        Args:
            folder: Named by all that decides on an answer beside what is asked (see `answers_folder`).
            seconds: The least time between two writes.
        """
        self.folder = folder
        self.kept = 0
        self._seconds = seconds
        self._written = time.monotonic()
        self._new: dict[bytes, NDArray[np.float64]] = {}
        self._own: dict[Path, _Segment] = {}
        self._others: list[_Segment] | None = None  # from files that were there before; None until they are read

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Write what is not on disk yet; if all went well, join this process's files."""
        self.write()
        if kind is None:
            self._join_own()

    def find(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float64]]:
        """Return the answers that are known, by their keys.

        The files of others are read once, at the first call; what this process adds later is found too.
        """
        if self._others is None:
            self._others = [_join(segments)] if (segments := list(_read_all(self.folder))) else []
        found = {key: self._new[key] for key in keys if key in self._new}
        wanted = np.array(keys, dtype=f"S{_KEY_BYTES}")
        for segment in (*self._others, *self._own.values()):
            places = np.minimum(np.searchsorted(segment.keys, wanted), len(segment.keys) - 1)
            for hit in np.flatnonzero(segment.keys[places] == wanted).tolist():
                start, stop = segment.bounds[places[hit] : places[hit] + 2]
                found[keys[hit]] = segment.numbers[start:stop]
        return found

    def look_again(self) -> None:
        """Let the next `find` read the files of other processes anew."""
        self._others = None

    def add(self, answers: Mapping[bytes, NDArray[np.float64]]) -> None:
        """Keep answers, by their keys; they are on disk some seconds later.

        Args:
            answers: Each of shape (numbers,). One that is not finite is left out, so that it will be asked again.
        """
        finite = {key: numbers for key, numbers in answers.items() if np.isfinite(numbers).all()}
        self._new |= finite
        self.kept += len(finite)
        if time.monotonic() - self._written >= self._seconds:
            self.write()

    def write(self) -> None:
        """Write what was added and is not on disk yet."""
        self._written = time.monotonic()
        if self._new:
            keys = sorted(self._new)
            lengths = [len(self._new[key]) for key in keys]
            numbers = np.concatenate([self._new[key] for key in keys])
            self._save(_Segment(np.array(keys, dtype=f"S{_KEY_BYTES}"), _bounds(lengths), numbers))
            self._new = {}
        if len(self._own) >= _MOST_FILES:
            self._join_own()

    def _save(self, segment: _Segment) -> None:
        path = self.folder / f"{uuid.uuid4().hex}.npz"
        size = sum(part.nbytes for part in segment)
        with replacing(path, size) as partial, partial.open("wb") as file:
            np.savez(file, keys=segment.keys, bounds=segment.bounds, numbers=segment.numbers)
        self._own[path] = segment

    def _join_own(self) -> None:
        """Write this process's files as one, and only then delete them; without space for both, they stay."""
        if len(self._own) > 1:
            small = list(self._own)
            try:
                self._save(_join(list(self._own.values())))
            except DiskFullError:
                return
            for path in small:
                del self._own[path]
                path.unlink(missing_ok=True)


def _read_all(folder: Path) -> Iterator[_Segment]:
    """Read the files of a store; if another process joins its own meanwhile, the joined file too."""
    seen: set[Path] = set()
    while unread := sorted(set(folder.glob("*.npz")) - seen):
        seen.update(unread)
        yield from (segment for path in unread if (segment := _read(path)) is not None)


def _read(path: Path) -> _Segment | None:
    """Return what a file holds, or None if it is damaged, or was joined to another since it was seen."""
    try:
        with np.load(path, allow_pickle=False) as file:
            segment = _Segment(file["keys"], file["bounds"], file["numbers"])
        consistent = len(segment.bounds) == len(segment.keys) + 1 and segment.bounds[-1] == len(segment.numbers)
        if not consistent or not len(segment.keys):
            raise ValueError("its arrays are empty or do not belong together")
    except FileNotFoundError:
        return None
    except _DAMAGED as fault:
        warnings.warn(f"{path} is damaged ({fault}); its answers are computed again, so delete it", stacklevel=2)
        return None
    return segment


def _join(segments: Sequence[_Segment]) -> _Segment:
    """Return the answers of several segments as one."""
    keys = np.concatenate([segment.keys for segment in segments])
    lengths = np.concatenate([np.diff(segment.bounds) for segment in segments])
    numbers = np.concatenate([segment.numbers for segment in segments])
    order = np.argsort(keys, kind="stable")
    bounds = _bounds(lengths[order])
    shifts = np.repeat(_bounds(lengths)[:-1][order] - bounds[:-1], lengths[order])  # (numbers,)
    return _Segment(keys[order], bounds, numbers[shifts + np.arange(len(numbers))])


def _bounds(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


Progress = Callable[[int], None]
"""Is called with the number of texts that have been finished since the last call."""


def in_proportion(progress: Progress | None, texts: int, parts: int) -> Progress:
    """Return a function that is called with finished parts and reports finished texts.

    Batches take their parts from many texts at once, so a share of the parts counts as the same share of the texts.

    Args:
        progress: Is told the texts; None to report nothing.
        texts: All texts; as many are reported when all parts are finished.
        parts: All parts.
    """
    finished, all_parts = 0, max(parts, 1)

    def report(n: int) -> None:
        nonlocal finished
        before, finished = texts * finished // all_parts, min(finished + n, all_parts)
        if progress is not None:
            progress(texts * finished // all_parts - before)

    return report


Found = Mapping[bytes, NDArray[np.float64]]
"""Key of a question -> its answer, shape (numbers,)."""


class Batch(NamedTuple):
    """Questions that a model is asked at once.

    Attributes:
        keys: Of the questions.
        compute: Given the keys whose answers are wanted, asks the model and yields answers as they come. A model on
            this machine is asked all questions, in the shape that was planned; a server the wanted ones.
    """

    keys: Sequence[bytes]
    compute: Callable[[Collection[bytes]], Iterable[Found]]


class Section(Protocol):
    """Questions whose batches are planned together."""

    @property
    def texts(self) -> int:
        """How many texts the questions are about."""
        ...

    @property
    def keys(self) -> Sequence[bytes]:
        """The key of each distinct question, in the order of asking."""
        ...

    def batches(self, own: Sequence[bytes]) -> list[Batch]:
        """Return the batches of those questions that belong to the section; there is at least one."""
        ...


class Answers:
    """What gives the answers of one model: its store, where there is one, and the model."""

    def __init__(
        self, store: AnswerStore | None = None, share: Share = WHOLE, elsewhere: Collection[bytes] = frozenset()
    ) -> None:
        """Begin with the first section.

        Args:
            store: Where earlier answers are looked up and new ones kept; None to compute all.
            share: Which batches are computed here.
            elsewhere: Keys of questions that other batches than those of these sections answer.
        """
        self._store = store
        self._share = share
        self._elsewhere = elsewhere
        self._sections = 0
        self.asked: set[bytes] = set()

    def to(self, section: Section, progress: Progress | None = None) -> dict[bytes, NDArray[np.float64]]:
        """Return the answers to a section by their keys: all of them, unless the share is one of several.

        Args:
            section: What is asked.
            progress: Is told the texts that have been finished, known ones first; of several processes each estimates
                those of the others by its own.
        """
        keys = section.keys
        report = in_proportion(progress, section.texts, len(keys))
        own = [key for key in keys if key not in self.asked]
        found = {} if self._store is None else self._store.find(keys)
        report(len(found))
        if self._store is not None:
            self.asked.update(own)
        self._sections += 1
        known = found.keys() | self._elsewhere if self._elsewhere else set(found)
        if any(key not in known for key in own):
            # The first batches of the sections go to different processes.
            for number, batch in enumerate(section.batches(own), start=self._sections - 1):
                wanted = {key for key in batch.keys if key not in known} if self._share.has(number) else set()
                for answers in batch.compute(wanted) if wanted else ():
                    new = {key: numbers for key, numbers in answers.items() if key in wanted}
                    if self._store is not None:
                        self._store.add(new)
                    found |= new
                    report(len(new) * self._share.of)
        return found


def answer_together(store: AnswerStore, processes: Processes, sections: Iterable[Section], progress: Progress) -> bool:
    """Let several processes answer all sections; return whether this one is to go on with the answers of all.

    Where one process does everything, it goes on at once, and answers as it goes.

    Args:
        store: Where the answers are kept.
        processes: Which of the processes this is.
        sections: What is asked.
        progress: Is told the texts that have been finished.
    """
    if processes.alone:
        return True
    claimed = processes.job.claimed.setdefault(store.folder, set())
    answers = Answers(store, processes.share, elsewhere=frozenset(claimed))
    for section in sections:
        answers.to(section, progress)
    claimed |= answers.asked
    store.write()
    processes.wait()
    store.look_again()
    return processes.writes


def count_answers(store: AnswerStore, processes: Processes, sections: Iterable[Section]) -> None:
    """Count how many of the answers to sections are in a store."""
    keys = list({key for section in sections for key in section.keys})
    processes.job.counted.append(Count("answers", len(store.find(keys)), len(keys)))


def open_answers(slug: str, model: MaskedLM | CausalLM, kind_of_device: str | None = None) -> AnswerStore:
    """Open the store of a model's answers.

    Its folder is named by everything that decides on a number beside what is asked: weights, configuration, precision,
    the kind of device, and the versions of PyTorch and transformers; for a model on a server by what params say of it.

    Args:
        slug: The model's key in params.yaml.
        model: The model.
        kind_of_device: What computes, for a model without weights or one whose layers are on several devices; None for
            the device that the model is on.
    """
    if isinstance(model, ServedLM):
        return AnswerStore(answers_folder(slug, model.kind, model.fingerprint, model.spec.likelihoods))
    config: dict[str, Any] = model.model.config.to_dict()
    # Where the model is stored, which of DeBERTa's heads its weights are, and what the fingerprint tells.
    for name in ("_name_or_path", "legacy", "quantization_config"):
        config.pop(name, None)
    settings = sorted((name, repr(value)) for name, value in config.items())
    device = kind_of_device or model.model.device.type
    computed = (str(model.model.dtype), device, torch.__version__, transformers.__version__)
    return AnswerStore(answers_folder(slug, model.kind, model.fingerprint, settings, computed))
