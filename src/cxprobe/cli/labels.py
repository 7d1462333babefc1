"""The commands by which people label mined sentences: ``cxprobe label`` and ``cxprobe agreement``."""

import subprocess
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxprobe.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def label(
    construction: str,
    who: Annotated[str, typer.Option(help="Your name in labels.tsv; by default the one that git knows.")] = "",
) -> None:
    """Label what was mined for a construction, sequence by sequence; it goes on where you stopped."""
    from cxprobe.constructions import read_labels, write_labels
    from cxprobe.labelling import HELP, Session, answer, group_sentences
    from cxprobe.params import load_params

    path = _labels_file(construction)
    session = Session(
        groups=group_sentences(_mined(construction), load_params().seed),
        labels=tuple(read_labels(path)),
        who=who or _git_user(),
        today=datetime.now().astimezone().date().isoformat(),
    )
    while (group := session.current) is not None:
        print(f"\n{session.left} sequences left. {group.size} sentences of\n  {group.tags}")
        for number, (_, text) in enumerate(group.shown, start=1):
            print(f"  {number}  {text}")
        text = _ask(HELP)
        if text == "q":
            break
        after = answer(session, text)
        if after is None:
            print(f"'{text}' is not an answer: {HELP}")
            continue
        session = after
        write_labels(session.labels, path)
    print(f"{session.left} sequences left; the labels are in {path}")


def agreement(construction: str) -> None:
    """List what people have labelled differently, and Cohen's kappa of every two of them."""
    from cxprobe.constructions import read_labels
    from cxprobe.labelling import conflicts, kappas

    labels = read_labels(_labels_file(construction))
    for conflict in conflicts(labels):
        said = ", ".join(f"{who}: {judgement}" for who, judgement in conflict.labels)
        print(f"{conflict.kind}\t{conflict.target}\t{said}")
    for pair in kappas(labels):
        shown = "not defined" if pair.value is None else f"{pair.value:.3f}"
        print(f"{pair.first} and {pair.second}: {pair.agreed} of {pair.both} alike, kappa {shown}")
    if len({one.who for one in labels}) < 2:
        print("fewer than two people have labelled; there is nothing to compare")


def _labels_file(construction: str) -> Path:
    from cxprobe.constructions import load_construction
    from cxprobe.params import CONSTRUCTIONS_FOLDER

    load_construction(construction)  # so that a mistyped name is reported, and does not make a new folder
    return CONSTRUCTIONS_FOLDER / construction / "labels.tsv"


def _mined(construction: str) -> "pd.DataFrame":
    from cxprobe.storage import DATA, read_table

    path = DATA / "mine_sentences" / construction / "sentences.parquet"
    if not path.is_file():
        raise DataError(f"{path}: there is no such file; `dvc repro mine_sentences` makes it, `dvc pull` fetches it")
    return read_table(path)


def _ask(choices: str) -> str:
    """Return the answer that is typed; the end of the input means to quit."""
    try:
        return input(f"{choices}: ").strip().lower()
    except EOFError:
        return "q"


def _git_user() -> str:
    done = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, check=False)
    if not done.stdout.strip():
        raise DataError("who labels? Give --who NAME, or tell git your name: git config user.name NAME")
    return done.stdout.strip()
