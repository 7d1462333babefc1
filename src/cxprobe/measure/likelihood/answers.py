"""Answers: from the store of a model, or by the model itself, batch by batch.

What is asked comes in sections, such as the texts of a construction under one scheme. The batches of a section are
planned from what is asked in it, whatever is known already and however many processes there are:

* A question belongs to the first section that asks it; later ones look its answer up.
* A batch all of whose answers are known is not computed. Any other is computed whole, as it was planned, and only the
  answers that were not known are kept. So a run that was killed, or divided among other processes, gives the numbers of
  one whole run to the last bit; a corrected text costs the few batches that its questions are in.
* Of n processes each computes every n-th batch.

Stages that share a model share its store. A text that two of them ask about has the answer of the first.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from cxprobe.measure.likelihood.counting import Progress, in_proportion
from cxprobe.models import CausalLM, MaskedLM, ServedLM
from cxprobe.processes import WHOLE, Count, Processes, Share
from cxprobe.storage import AnswerStore, answers_folder

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
