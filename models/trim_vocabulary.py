"""trim_vocabulary: a trained encoder and the text -> the encoder with a smaller vocabulary, to start training from."""

import shutil
from pathlib import Path

from cxprobe.lm.loading import load_encoder
from cxprobe.lm.params import ModelSpec
from cxprobe.run.running import run_stage_with
from cxprobe.run.stage import Outcome, Stage
from cxprobe.segmentation import sentences
from cxprobe_pretraining import (
    PretrainingParams,
    count_pieces,
    encode_records,
    load_pretraining_params,
    make_tokenizer,
    read_corpus,
    read_words,
    trim_encoder,
    trim_tokenizer,
)
from cxprobe_pretraining import trim_vocabulary as choose_pieces

STARTS = Path("models/starts")


def trim_vocabulary(stage: Stage[PretrainingParams]) -> Outcome:
    name = stage.item["vocabulary"]
    settings = stage.params.trim_vocabulary[name]
    encoder = load_encoder(name, ModelSpec(name=settings.source, revision=None, sha256=None, dtype="float32"))
    tokenizer = encoder.tokenizer.backend_tokenizer
    words = read_words(stage.use(Path("models/words.yaml")))
    records = read_corpus(stage.use(Path("models/corpus/train.json.gz")))
    texts = ([record.text[start:end] for start, end in sentences(record.text)] for record in records)
    old = dict(sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1]))
    counts = count_pieces(encode_records(tokenizer, texts), len(old))
    required = {word: tokenizer.encode(word, add_special_tokens=False).ids for word in words.all}
    vocabulary = choose_pieces(old, counts, required, settings.pieces)
    trimmed = make_tokenizer(trim_tokenizer(tokenizer.to_str(), vocabulary), settings.positions)
    folder = STARTS / name
    shutil.rmtree(folder, ignore_errors=True)
    trim_encoder(encoder.model, vocabulary, settings.positions).save_pretrained(folder)
    trimmed.save_pretrained(folder)
    added = [word for word in words.all if len(required[word]) > 1]
    kept = sum(int(counts[origins[0]]) for origins in vocabulary.origins if len(origins) == 1)
    return Outcome(
        counts={
            "pieces": len(vocabulary.pieces),
            "words_added": len(added),
            "share_of_text_kept": kept / int(counts.sum()),
        },
        facts={"weights": encoder.fingerprint, "words added": " ".join(added)},
    )


if __name__ == "__main__":
    run_stage_with(load_pretraining_params, trim_vocabulary, "vocabulary")
