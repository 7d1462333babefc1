"""spaCy's convolutional networks on a CPU, forward only: the same numbers up to rounding, in a third of the time.

A network of thinc is changed in place: its maxout layers are computed by oneDNN, through PyTorch, and what depends only
on a word's own features is computed once for each distinct word of a batch.
"""

from collections.abc import Callable
from functools import reduce
from types import MethodType
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import spacy
import torch
from spacy.language import Language
from thinc.api import Model, NumpyOps, Ops, Ragged
from torch.nn import functional

from cxprobe.corpora.pattern import Pattern
from cxprobe.errors import ModelError

_EPSILON = 1e-8  # what thinc adds to a variance
# Layers that compute each token independently of the others.
_TOKEN_BY_TOKEN = frozenset({"ints-getitem", "hashembed", "maxout", "layernorm", "dropout"})

Forward = tuple[Any, Callable[..., NoReturn]]


def run_forward_only(network: Model[Any, Any]) -> None:
    """Make a network faster, as far as its layers are known and it runs on a CPU; it can no longer be trained."""
    ops = NumpyOps()
    # NumPy multiplies three times as fast for a small network as the BLAS that thinc includes.
    ops.gemm = MethodType(Ops.gemm, ops)
    for node in list(network.walk()):
        if type(node.ops) is NumpyOps:  # the operations of a GPU, or of Apple, are other classes
            node.ops = ops
            _embed_each_kind_once(node)
            if [layer.name for layer in node.layers] == ["maxout", "layernorm"]:
                network.replace_node(node, _normalised_maxout(*node.layers))


def _normalised_maxout(maxout: Model[Any, Any], norm: Model[Any, Any]) -> Model[Any, Any]:
    """Return a layer that does what a maxout layer and its normalisation do."""
    outputs, pieces, inputs = maxout.get_param("W").shape
    weights, bias = (torch.from_numpy(maxout.get_param(name)).transpose(0, 1) for name in ("W", "b"))
    weights, bias = weights.reshape(pieces * outputs, inputs), bias.reshape(-1)  # piece by piece, not output by output
    scale, shift = (torch.from_numpy(norm.get_param(name)) for name in ("G", "b"))

    def forward(_: Model[Any, Any], rows: np.ndarray, is_train: bool) -> Forward:  # noqa: ARG001
        with torch.inference_mode():
            x = torch.from_numpy(np.ascontiguousarray(rows))  # (rows, inputs)
            best = reduce(torch.maximum, _affine(x, weights, bias).chunk(pieces, dim=1))  # (rows, outputs)
            y = functional.layer_norm(best, (outputs,), scale, shift, _EPSILON)
            return y.numpy(), _no_training

    return Model(f"{maxout.name}>>{norm.name}", forward)


def _affine(x: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return ``x @ weights.T + bias``, (rows, inputs) by (outputs, inputs), as a convolution with a stride.

    PyTorch computes a convolution with oneDNN but a product with MKL. Measured with 384 inputs and outputs on one core
    of an AMD processor with AVX-512: 230 against 110 GFLOP/s, and NumPy's OpenBLAS 120.
    """
    width = 2 if x.shape[1] % 2 == 0 else 1
    picture = x.view(1, 1, len(x) * width, -1).permute(0, 3, 1, 2)  # (1, inputs / width, 1, rows * width)
    kernel = weights.view(len(weights), 1, width, -1).permute(0, 3, 1, 2)  # (outputs, inputs / width, 1, width)
    y = functional.conv2d(picture, kernel, bias, stride=(1, width))  # (1, outputs, 1, rows)
    return y.permute(0, 2, 3, 1).view(len(x), -1)


def _embed_each_kind_once(node: Model[Any, Any]) -> None:
    """Wrap the layers between ``list2ragged`` and ``ragged2list`` so that they compute each distinct row once."""
    names = [layer.name for layer in node.layers]
    if {"list2ragged", "ragged2list"} <= set(names):
        inner = slice(names.index("list2ragged") + 1, names.index("ragged2list"))
        leaves = {leaf.name for layer in node.layers[inner] for leaf in layer.walk() if not leaf.layers}
        if leaves <= _TOKEN_BY_TOKEN:
            node.layers[inner] = [Model("once", _each_kind_once, layers=node.layers[inner])]


def _each_kind_once(model: Model[Any, Any], tokens: Ragged, is_train: bool) -> Forward:
    features = np.ascontiguousarray(tokens.dataXd)  # (tokens, features)
    row = pa.binary(features.itemsize * features.shape[1])
    kinds = pa.Array.from_buffers(row, len(features), [None, pa.py_buffer(features)]).dictionary_encode()
    distinct = np.frombuffer(kinds.dictionary.buffers()[1], features.dtype, len(kinds.dictionary) * features.shape[1])
    vectors = Ragged(distinct.reshape(-1, features.shape[1]), np.array([len(kinds.dictionary)], np.int32))
    for layer in model.layers:
        vectors, _ = layer(vectors, is_train)
    return Ragged(vectors.dataXd[kinds.indices.to_numpy()], tokens.lengths), _no_training


def _no_training(*_: object) -> NoReturn:
    raise NotImplementedError("this network runs forward only")


# Components that set no attribute of single tokens, and take time.
NOT_NEEDED = ("parser", "ner", "lemmatizer", "senter", "entity_linker", "textcat")
# What a token pattern may ask for beside tags, which only this component sets.
FROM_MORPHOLOGIZER = frozenset({"POS", "MORPH"})


def load_tagger(name: str, pattern: Pattern) -> Language:
    """Load a spaCy pipeline, by the name of an installed package or by its folder, without what tags do not need.

    Raises:
        ModelError: It does not exist, or does not set tags.
    """
    asked = {
        key
        for part in range(len(pattern.parts))
        for tokens in pattern.alternatives(part)
        for one in tokens
        for key in one
    }
    without = NOT_NEEDED if asked & FROM_MORPHOLOGIZER else (*NOT_NEEDED, "morphologizer")
    try:
        nlp = spacy.load(name, exclude=list(without))
    except OSError as fault:
        raise ModelError(
            f"mine_sentences.tagger: '{name}' is neither a folder with a spaCy pipeline nor an installed package; "
            f"install it, or name another ({' '.join(str(fault).split())[:200]})"
        ) from None
    if not nlp("The more.").has_annotation("TAG"):
        raise ModelError(
            f"mine_sentences.tagger: '{name}' sets no fine-grained tags; its components are {nlp.pipe_names}"
        )
    for _, component in nlp.pipeline:
        if hasattr(component, "model"):
            run_forward_only(component.model)
    return nlp
