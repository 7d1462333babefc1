"""Pretraining: the small language models that the project carries, made by its own code.

Text comes from a list of repositories or from a folder (`build_corpus`, `read_corpus`). A trained encoder's vocabulary
is trimmed (`trim_vocabulary`, `trim_tokenizer`, `trim_encoder`), sentences are put together to segments
(`encode_records`, `cut_segments`), and a masked or a causal model is trained on them (`start_model`, `train`), keeps
checkpoints on its way, and goes on where a killed run stopped. The n-grams of the same text are counted for the trigram
model (`count_ngrams`), which is a blind one. Everything that decides on a model stands in
models/params.yaml (`load_pretraining_params`).
"""

from cxprobe_pretraining.corpus import build_corpus, read_corpus
from cxprobe_pretraining.encoding import count_pieces, encode_records
from cxprobe_pretraining.ngrams import count_ngrams, write_ngrams
from cxprobe_pretraining.segments import Segments, cut_segments
from cxprobe_pretraining.settings import PretrainingParams, load_pretraining_params
from cxprobe_pretraining.starts import make_tokenizer, save_model, start_model, trim_encoder
from cxprobe_pretraining.training import Training, perplexity, train
from cxprobe_pretraining.vocabulary import trim_tokenizer, trim_vocabulary
from cxprobe_pretraining.words import Words, read_words

__all__ = [
    "PretrainingParams",
    "Segments",
    "Training",
    "Words",
    "build_corpus",
    "count_ngrams",
    "count_pieces",
    "cut_segments",
    "encode_records",
    "load_pretraining_params",
    "make_tokenizer",
    "perplexity",
    "read_corpus",
    "read_words",
    "save_model",
    "start_model",
    "train",
    "trim_encoder",
    "trim_tokenizer",
    "trim_vocabulary",
    "write_ngrams",
]
