"""Baselines of recognition: counts of a sentence's words, letters, tags or places instead of a model's vectors.

The counts are probed exactly as the vectors of a model's layer are. The rate of a probe on them shows how far the
sentences give the label away by their spelling, their words, their parts of speech, or the places of their function
words. To count takes no longer than to read the counts, and tags are set once for all members of a set, so counts are
not kept.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from cxprobe.errors import DataError
from cxprobe.models.ngrams import EVERY_WORD, counted_texts, ngram_counter
from cxprobe.models.params import NgramFeatures, TagNgrams

# Words without much of a meaning of their own, so that their places say nothing about what a sentence is about.
FUNCTION_WORDS = frozenset(
    word
    for words in (
        # articles, quantifiers, words of degree
        "a an the all any both each either enough every few fewer less least many more most much neither no none",
        "several some such even just only quite rather so too very as than",
        # pronouns
        "i me my mine you your yours he him his she her hers it its we us our ours they them their theirs one this",
        "that these those myself yourself himself herself itself ourselves themselves who whom whose which what",
        # prepositions
        "about above across after against along among around at before behind below beneath beside between beyond by",
        "down during for from in inside into like near of off on onto out outside over past per since through",
        "throughout till to toward towards under until up upon with within without",
        # conjunctions, and adverbs that join
        "and or but nor if unless because although though while whereas whether when where why how then else thus",
        "hence therefore however also yet once again ever never not now here there let alone",
        # auxiliaries
        "am is are was were be been being do does did have has had having can could may might must shall should will",
        "would cannot ought",
    )
    for word in words.split()
)
_TENTHS = 10


def count_features(texts: Sequence[str], spec: object, place: str) -> csr_array:
    """Count the features of each sentence that a baseline of recognition reads.

    The columns are those of all sentences together, and not of a training part. The probes are as if they were of the
    training part alone: a column that is empty there has a gradient of 0 and, by the penalty, the weight 0. So one
    matrix serves every subset.

    Args:
        texts: The sentences, in at least one of which there is something to count.
        spec: The kind, and for n-grams their lengths:
            "word_ngrams": how often each n-gram of lower-cased words stands in the sentence;
            "character_ngrams": how often each n-gram of characters stands in the lower-cased sentence, spaces and
            punctuation included;
            "tag_ngrams": how often each n-gram of parts of speech does;
            any other ("positions"): `positions_of` each sentence.
        place: Names the model and the sentences, for messages.

    Returns:
        Shape (len(texts), columns), float32, the columns in the order of their names. Character 2- to 6-grams take
        about 5 kB of memory a sentence while they are counted, and 0.25 ms.

    Raises:
        DataError: There is nothing to count in any of the sentences.
        ModelError: There is no such tagger, or it is another one than params say.
    """
    # scikit-learn takes a second to import, and models that are no baselines do without these parts of it.
    from sklearn.feature_extraction import DictVectorizer

    if not isinstance(spec, NgramFeatures | TagNgrams):
        return csr_array(DictVectorizer(dtype=np.float32).fit_transform(map(positions_of, texts)))
    read = counted_texts(spec, texts)
    try:
        counts = csr_array(ngram_counter(spec, np.float32).fit_transform(read))
        counts.sort_indices()  # sums of floating-point numbers run in the order of the columns
        return counts
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        raise DataError(
            f"{place}: none of {len(texts)} sentences has {spec.lengths[0]} {_unit_of(spec)}s in a row, so nothing can "
            f"be counted with the lengths {spec.lengths}; take shorter ones"
        ) from error


def positions_of(text: str) -> dict[str, float]:
    """Return the length of a sentence and where its function words stand, and nothing about its other words.

    Args:
        text: The sentence. A word is a run of letters and digits, lower-cased.

    Returns:
        Name -> number: "words", in tens; "characters", in hundreds; and, how often they are so, the `FUNCTION_WORDS`
        at a place from the start ("the at 0"), at a place from the end ("the at -1"), in a tenth of the sentence ("the
        in tenth 0"), and so many words after the same word ("the 2 after the"). Places, and not their numerical
        values, are the columns, since a linear probe could do little with the values.
    """
    words = re.findall(EVERY_WORD, text.lower())
    counts = Counter[str]()
    last: dict[str, int] = {}
    for position, word in enumerate(words):
        if word not in FUNCTION_WORDS:
            continue
        counts[f"{word} at {position}"] += 1
        counts[f"{word} at {position - len(words)}"] += 1
        counts[f"{word} in tenth {_TENTHS * position // len(words)}"] += 1
        if word in last:
            counts[f"{word} {position - last[word]} after {word}"] += 1
        last[word] = position
    return {"words": len(words) / 10, "characters": len(text) / 100, **counts}


def kind_of(spec: object) -> str:
    """Return the kind of a baseline in words."""
    if not isinstance(spec, NgramFeatures | TagNgrams):
        return "lengths, and places of function words"
    shortest, longest = spec.lengths
    lengths = f"{shortest}-grams" if shortest == longest else f"{shortest}- to {longest}-grams"
    return f"{_unit_of(spec)} {lengths}"


def _unit_of(spec: NgramFeatures | TagNgrams) -> str:
    return spec.kind.removesuffix("_ngrams")
