"""The command ``cxprobe``: what a team does beside ``dvc repro``."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from cxprobe import tracking
from cxprobe.constructions import load_construction
from cxprobe.errors import CxprobeError, DataError
from cxprobe.mining import (
    HELP,
    Session,
    agreement,
    answer,
    conflicts,
    group_sentences,
    load_pattern,
    read_labels,
    write_labels,
)
from cxprobe.pairs import load_pairs, load_people
from cxprobe.params import CONSTRUCTIONS_FOLDER, Params, load_params
from cxprobe.prompting import (
    build_choices,
    build_questions,
    load_continuations,
    load_inference_prompts,
    load_material,
    load_pool,
    load_reasoning_prompts,
    load_writing_prompt,
    require_sentences,
)
from cxprobe.scenarios import load_scenarios
from cxprobe.sentences import load_grammars
from cxprobe.stage import read_records
from cxprobe.storage import DATA, read_table

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)


@app.command()
def sync() -> None:
    """Write every finished stage that the MLflow diary lacks into it, from the files under results/."""
    with _mendable():
        records = read_records()
        added = tracking.sync(records)
        print(f"{len(records)} finished stages, {added} of them new in the diary")


@app.command()
def check() -> None:
    """Check params.yaml and the constructions and prompts that it names, without running anything: seconds."""
    with _mendable():
        params = load_params()
        for name in params.grid.sentences.constructions:
            load_grammars(name, load_construction(name))
        for name in params.grid.mining.constructions:
            load_pattern(name, load_construction(name))
        people = load_people()
        for name in params.grid.pairs.constructions:
            load_pairs(name, people)
        for name in params.grid.labels.constructions:
            read_labels(_labels_file(name))
        for name in params.grid.scenarios.constructions:
            load_scenarios(name)
        _check_prompts(params)
        for name in params.grid.frames.constructions:
            content = load_pairs(name, people)
            require_sentences(name, content.tests, [variant.context for variant in content.variants.values()])
            load_writing_prompt(params.write_frames.prompt)
        print("params.yaml and its constructions are as they should be")


@app.command()
def label(
    construction: str,
    who: Annotated[str, typer.Option(help="Your name in labels.tsv; by default the one that git knows.")] = "",
) -> None:
    """Label what was mined for a construction, sequence by sequence; it goes on where you stopped."""
    with _mendable():
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
            text = _ask()
            if text == "q":
                break
            after = answer(session, text)
            if after is None:
                print(f"'{text}' is no answer: {HELP}")
                continue
            session = after
            write_labels(session.labels, path)
        print(f"{session.left} sequences left; the labels are in {path}")


@app.command("agreement")
def agreement_(construction: str) -> None:
    """List what people have labelled differently, and Cohen's kappa of every two of them."""
    with _mendable():
        labels = read_labels(_labels_file(construction))
        for kind, target, said in conflicts(labels):
            print(f"{kind}\t{target}\t" + ", ".join(f"{who}: {judgement}" for who, judgement in said))
        for first, second, both, agreed, kappa in agreement(labels):
            shown = "not defined" if kappa is None else f"{kappa:.3f}"
            print(f"{first} and {second}: {agreed} of {both} alike, kappa {shown}")
        if len({one.who for one in labels}) < 2:
            print("fewer than two people have labelled; there is nothing to compare")


def _check_prompts(params: Params) -> None:
    """Make all questions, in words and by likelihood, and put them to no model."""
    asked, seed = params.ask_llms, params.seed
    inference, reasoning, continuations = load_inference_prompts(), load_reasoning_prompts(), load_continuations()
    for name in params.grid.prompts.constructions:
        material = load_material(name, asked, load_pool(name, asked), seed=seed)
        build_questions(name, material, inference, reasoning, asked, seed=seed)
        build_choices(name, material, continuations, asked, params.answer_likelihoods, seed=seed)


def _labels_file(construction: str) -> Path:
    load_construction(construction)  # so that a slip in the name is told, and makes no new folder
    return CONSTRUCTIONS_FOLDER / construction / "labels.tsv"


def _mined(construction: str) -> pd.DataFrame:
    path = DATA / "mine_sentences" / f"{construction}.parquet"
    if not path.is_file():
        raise DataError(f"{path} is not there; `dvc repro mine_sentences` makes it, `dvc pull` fetches it")
    return read_table(path)


def _ask() -> str:
    """Return the answer that is typed; the end of the input means to quit."""
    try:
        return input(f"{HELP}: ").strip().lower()
    except EOFError:
        return "q"


def _git_user() -> str:
    done = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, check=False)
    if not done.stdout.strip():
        raise DataError("who labels? Say --who NAME, or tell git your name: git config user.name NAME")
    return done.stdout.strip()


@contextmanager
def _mendable() -> Iterator[None]:
    """Print a fault that the user can mend without a traceback, and exit with 2."""
    try:
        yield
    except CxprobeError as fault:
        print(fault, file=sys.stderr)
        raise SystemExit(2) from None
