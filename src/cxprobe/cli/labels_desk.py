"""What the commands of labelling read: mined sentences, the pattern that found them, and the text around them."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cxprobe.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cxprobe.corpora.params import Corpus
    from cxprobe.corpora.sources import CorpusFiles
    from cxprobe.people.agreement import Conflict
    from cxprobe.people.cards import Desk
    from cxprobe.people.sessions import Candidate, Group
    from cxprobe.people.surroundings import Record, Surroundings
    from cxprobe.run.params import Params

# A corpus of files that is larger is not read unasked: some 20 seconds.
_READ_UNASKED = 2 << 30  # bytes


def mined_groups(construction: str) -> "tuple[Group, ...]":
    """Return what was mined for a construction, by sequence.

    Raises:
        DataError: Nothing was mined.
    """
    from cxprobe.files.tables import read_table
    from cxprobe.people.sessions import group_sentences
    from cxprobe.run.params import load_params

    path = mined_file(construction)
    if not path.is_file():
        raise DataError(f"{path}: there is no such file; `dvc repro mine_sentences` makes it, `dvc pull` fetches it")
    return group_sentences(read_table(path), load_params().seed)


def mined_file(construction: str) -> Path:
    """Return the path of the mined sentences."""
    from cxprobe.files.writing import DATA

    return DATA / "mine_sentences" / construction / "sentences.parquet"


def make_desk(
    construction: str, groups: "Sequence[Group]", disputes: "Iterable[Conflict]" = (), read_corpus: bool | None = None
) -> "Desk":
    """Return what is shown beside the sentences: definition, hits, the text around, labels to decide about.

    Args:
        construction: The construction's folder.
        groups: What is labelled.
        disputes: The labels that a third person decides about.
        read_corpus: Whether the text around the sentences is read from the corpus; None for: if it is small.

    Raises:
        CxprobeError: The construction, its pattern, the tagger or the corpus has faults.
    """
    from cxprobe.constructions.construction import load_construction
    from cxprobe.corpora.pattern import load_pattern
    from cxprobe.corpora.tagging import load_tagger
    from cxprobe.people.cards import Desk, hit_finder
    from cxprobe.run.params import load_params

    params, content = load_params(), load_construction(construction)
    pattern = load_pattern(construction, content)
    return Desk(
        construction=content,
        find_hits=hit_finder(pattern, load_tagger(params.mine_sentences.tagger, pattern)),
        surroundings=_surroundings(construction, groups, params, read_corpus),
        disputes={(one.kind, one.target): one for one in disputes},
    )


def _surroundings(
    construction: str, groups: "Sequence[Group]", params: "Params", read_corpus: bool | None
) -> "Mapping[str, Surroundings]":
    """Return the text around the sentences; where it is not known, a line says why."""
    slug = params.grid.mining.get(construction)
    if read_corpus is False or slug is None or slug not in params.corpora:
        why = "" if read_corpus is False else f": grid.mining in params.yaml names no corpus of {construction}"
        _say(f"the sentences around are not shown{why}")
        return {}
    corpus = params.corpora[slug]
    candidates = [one for group in groups for one in group.sentences]
    try:
        if read_corpus is None and (size := _size(corpus)) > _READ_UNASKED:
            _say(f"the sentences around are not shown: corpus {slug} has {size / 1e9:.1f} GB; --read-corpus reads it")
            return {}
        found = _found_around(candidates, corpus, params, construction)
    except DataError as fault:
        if read_corpus:
            raise
        _say(f"the sentences around are not shown: {fault}")
        return {}
    if absent := len(candidates) - len(found):
        _say(f"of {absent} of {len(candidates)} sentences the corpus as it is here has no source: nothing around them")
    return found


def _found_around(
    candidates: "Sequence[Candidate]", corpus: "Corpus", params: "Params", construction: str
) -> "dict[str, Surroundings]":
    """Return the text around the sentences, from the corpus or from what was kept when it was last read."""
    import pandas as pd

    from cxprobe.corpora.sources import open_corpus
    from cxprobe.files.tables import read_table, write_table
    from cxprobe.files.writing import SCRATCH, digest, scratch_folder
    from cxprobe.people.surroundings import Surroundings, find_surroundings

    files = open_corpus(corpus, SCRATCH)
    kept = scratch_folder(SCRATCH / "label", files.digest, digest(mined_file(construction))) / "surroundings.parquet"
    if not kept.is_file():
        _say("reading the corpus for the sentences around; this is done once")
        records = _records(files, params.mine_sentences.longest_line)
        everything = [one for group in mined_groups(construction) for one in group.sentences]
        found = find_surroundings(everything, records, paragraphs=corpus.kind == "installed")
        rows = [(name, around.before, around.after) for name, around in found.items()]
        write_table(pd.DataFrame(rows, columns=["id", "before", "after"], dtype="string"), kept)
    table = read_table(kept)
    known = zip(table["before"].tolist(), table["after"].tolist(), strict=True)
    around = dict(zip(table["id"].tolist(), (Surroundings(*texts) for texts in known), strict=True))
    return {one.id: around[one.id] for one in candidates if one.id in around}


def _records(files: "CorpusFiles", longest: int) -> "Iterator[Record]":
    """Yield the records of a corpus as mining reads them; what cannot be read was recorded when it was mined."""
    from typing import IO, cast

    from datatrove.io import get_datafolder

    from cxprobe.corpora.readers import READERS, Fault, Keys
    from cxprobe.people.surroundings import Record

    folder, keys = get_datafolder(files.folder), Keys(files.text, files.url)
    for shard in files.shards:
        with folder.open(shard, "rb") as file:
            for block in READERS[files.format](cast(IO[bytes], file), shard, keys, longest):
                if not isinstance(block, Fault):
                    for url, text, base in zip(block.urls, block.texts.to_pylist(), block.bases, strict=True):
                        yield Record(url, text, base)


def _size(corpus: "Corpus") -> int:
    """Return the bytes of a corpus of files; 0 for installed packages, whose prose is small."""
    from cxprobe.corpora.sources import list_corpus

    return 0 if corpus.kind == "installed" else int(list_corpus(corpus)["size"].sum())


def _say(text: str) -> None:
    print(text, file=sys.stderr)
