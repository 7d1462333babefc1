"""Make the bundled language models again: text -> n-grams, vocabularies, models. See README.md beside this file."""

import hashlib
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import torch
import typer
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, PreTrainedTokenizerFast

from cxprobe.errors import CxprobeError
from cxprobe.models.embedding import load_encoder
from cxprobe.models.loading import open_source
from cxprobe.models.ngrams import NGRAMS_FILE
from cxprobe.models.params import ModelSpec
from cxprobe.seeding import generator_for, seed_for
from pretraining.corpus import read_sentences, write_corpus
from pretraining.lessons import Teacher, Words, add_lessons, load_lesson_plan, words_of_items
from pretraining.ngrams import count_ngrams, write_ngrams
from pretraining.segments import Segments, cut_segments
from pretraining.settings import Lessons, PretrainingParams, Training, Vocabulary, load_pretraining_params, load_words
from pretraining.training import KEPT, STATE, perplexity, start_model, train
from pretraining.vocabulary import (
    count_pieces,
    encode_records,
    make_tokenizer,
    trim_encoder,
    trim_tokenizer,
    trim_vocabulary,
)

HERE = Path("models")
ITEMS = (Path("constructions"), Path("lexicon"))  # whose words no lesson has
NGRAMS = "mini-ngrams"


def main(
    params: Annotated[Path, typer.Option(help="The parameters.")] = HERE / "params.yaml",
    out: Annotated[Path, typer.Option(help="Where everything goes.")] = HERE / "new",
) -> None:
    """Make all that models/params.yaml names, in its order; what is there with the same settings is not made again."""
    try:
        run = Run(load_pretraining_params(params), out)
        run.step("corpus", run.params.corpus, [], partial(write_corpus, run.params.corpus))
        run.step(NGRAMS, run.params.ngrams, ["corpus"], run.make_ngrams)
        for name, vocabulary in run.params.vocabularies.items():
            words = (HERE / "words.yaml").read_text("utf-8")
            run.step(name, (vocabulary, words), ["corpus"], partial(run.make_vocabulary, vocabulary))
        for name, training in run.params.models.items():
            plan = (HERE / "lessons.yaml").read_text("utf-8") if training.lessons else None
            run.step(
                name, (run.params.seed, training, plan), ["corpus", training.start], partial(run.train_model, name)
            )
    except CxprobeError as error:
        raise SystemExit(str(error)) from None


class Run:
    """The steps of `main`; each writes a folder ``out``/<its name>.

    Args:
        params: The parameters.
        out: Where everything goes.
    """

    def __init__(self, params: PretrainingParams, out: Path) -> None:
        self.params, self.out = params, out
        self._keys: dict[str, str] = {}

    def step(self, name: str, settings: object, after: Sequence[str], make: Callable[[Path], None]) -> None:
        """Make a folder, unless it was made with these settings from the same other steps."""
        key = hashlib.sha256(repr((settings, [self._keys[step] for step in after])).encode()).hexdigest()
        self._keys[name] = key
        marker = self.out / f"{name}.made"
        if marker.is_file() and marker.read_text() == key:
            print(f"{name}: is there", flush=True)
            return
        print(f"{name}:", flush=True)
        shutil.rmtree(self.out / name, ignore_errors=True)
        make(self.out / name)
        marker.write_text(key)

    def make_ngrams(self, folder: Path) -> None:
        """Count the n-grams of the text to learn from."""
        texts = pd.read_json(self.out / "corpus" / "train.json.gz", lines=True)["text"]
        folder.mkdir()
        write_ngrams(count_ngrams(texts, self.params.ngrams), folder / NGRAMS_FILE)

    def make_vocabulary(self, settings: Vocabulary, folder: Path) -> None:
        """Trim a trained encoder's vocabulary to what the text needs, and save both."""
        encoder = load_encoder(
            open_source("source", ModelSpec(name=settings.source, revision=None, sha256=None, dtype="float32"))
        )
        tokenizer = encoder.tokenizer.backend_tokenizer
        words = load_words(HERE / "words.yaml").all
        old = dict(sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1]))
        counts = count_pieces(encode_records(tokenizer, self.read("train")), len(old))
        required = {word: tokenizer.encode(word, add_special_tokens=False).ids for word in words}
        vocabulary = trim_vocabulary(old, counts, required, settings.pieces)
        trim_encoder(encoder.model, vocabulary, settings.positions).save_pretrained(folder)
        make_tokenizer(trim_tokenizer(tokenizer.to_str(), vocabulary), settings.positions).save_pretrained(folder)
        kept = sum(int(counts[origins[0]]) for origins in vocabulary.origins if len(origins) == 1)
        print(f"{len(vocabulary.pieces):,} pieces, which {kept / counts.sum():.1%} of the text's tokens are")

    def train_model(self, name: str, folder: Path) -> None:
        """Train a model, save it or its checkpoints, and print their perplexities, and that of random weights."""
        settings = self.params.models[name]
        torch.set_num_threads(settings.threads)
        torch.manual_seed(seed_for(self.params.seed, name, "weights"))
        start = self.out / settings.start
        tokenizer = AutoTokenizer.from_pretrained(start)
        parts = {part: self.cut(part, tokenizer) for part in ("train", "validation")}
        if settings.lessons:
            total = settings.steps * settings.batch_tokens
            parts["train"] = self.add_lessons(settings.lessons, parts["train"], tokenizer, total)
        counts = np.bincount(parts["train"].ids, minlength=len(tokenizer))
        model = start_model(settings, start, tokenizer, counts)
        model.set_attn_implementation(settings.attention)
        scratch = self.out / f"{name}.training" / self._keys[name][:16]
        seed = seed_for(self.params.seed, name)
        train(model, tokenizer, settings, parts, seed=seed, scratch=scratch)
        shutil.copytree(scratch / KEPT, folder)
        self.measure(settings, folder, parts["validation"])
        shutil.rmtree(scratch / KEPT)
        (scratch / STATE).unlink(missing_ok=True)

    def measure(self, settings: Training, folder: Path, text: Segments) -> None:
        """Write the perplexities on the validation text of what a training kept and of random weights."""
        kind = AutoModelForMaskedLM if settings.objective == "masked" else AutoModelForCausalLM
        checkpoints = sorted(folder.glob("step-*")) or [folder]
        models = {path.name: kind.from_pretrained(path, dtype=torch.float32) for path in checkpoints}
        models["untrained"] = kind.from_config(models[checkpoints[0].name].config)
        tokenizer = AutoTokenizer.from_pretrained(checkpoints[0])
        rows = [
            (name, perplexity(model, tokenizer, settings, text, self.params.seed)) for name, model in models.items()
        ]
        table = pd.DataFrame(rows, columns=["checkpoint", "perplexity"])
        table.to_csv(folder.with_suffix(".perplexity.csv"), index=False)
        print(table.to_string(index=False))

    def read(self, part: str) -> list[list[str]]:
        """Return the sentences of each record of a part of the text."""
        return read_sentences(self.out / "corpus" / f"{part}.json.gz")

    def cut(self, part: str, tokenizer: PreTrainedTokenizerFast) -> Segments:
        """Return a part of the text as segments of tokens."""
        return cut_segments(
            encode_records(tokenizer.backend_tokenizer, self.read(part)),
            tokenizer.cls_token_id,
            tokenizer.sep_token_id,
            tokenizer.model_max_length,
            generator_for(self.params.seed, "segments", part),
        )

    def add_lessons(
        self, settings: Lessons, text: Segments, tokenizer: PreTrainedTokenizerFast, total: int
    ) -> Segments:
        """Return a text with lessons of words that none of the project's items has, ``total`` tokens together."""
        sentences = (sentence for record in self.read("train") for sentence in record)
        words = Words.of(sentences, words_of_items(ITEMS), tokenizer.get_vocab())
        plan = load_lesson_plan(HERE / "lessons.yaml")
        draws = generator_for(self.params.seed, "lessons")
        teacher = Teacher(plan, words, draws, by_chance=settings.by_chance)
        return add_lessons(text, settings, teacher, tokenizer, generator_for(self.params.seed, "copies"), total=total)


if __name__ == "__main__":
    typer.run(main)
