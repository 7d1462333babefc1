"""What the commands of labelling do: read what was mined, let a person label, and compare."""

import subprocess
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import pandas as pd
import typer
from rich.console import Console

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER, load_construction
from cxprobe.errors import DataError
from cxprobe.files.tables import read_table
from cxprobe.lines import LINES
from cxprobe.people.agreement import conflicts, disputes, kappas
from cxprobe.people.labels import DECIDES, LABELS_FILE, PersonLabel, Said, Target, is_decision, read_labels
from cxprobe.people.mined import MOST_SHOWN, MinedSentence, SentenceGroup, group_sentences, piece_finder
from cxprobe.people.ranking import estimate_yield
from cxprobe.people.screen import has_styles, show_definition, show_group
from cxprobe.people.sessions import HELP, Desk, SavedSession, start_session
from cxprobe.project.params import load_params


def label_mined(construction: str, who: str, browser: bool) -> None:
    """Let a person label what was mined, and say what the labels tell of all of it."""
    groups, person = _mined_groups(construction), who or _git_user()
    if is_decision(person):
        raise DataError(f"--who '{person}': decisions are made by `cxprobe agreement {construction} --decide`")
    desk = _desk(construction, {})
    _run(construction, groups, person, desk, browser)
    labels = read_labels(labels_file(construction))
    for line in LINES.values():
        for missing in line.labels_missing(construction, load_params(), read_mined(construction), labels):
            print(missing)
    _print_yield(groups, labels)


def decide_disputes(construction: str, who: str, browser: bool) -> None:
    """Let a third person decide what others have labelled differently."""
    open_disputes = disputes(_mined_groups(construction), read_labels(labels_file(construction)))
    if not open_disputes:
        print("there is nothing to decide: nobody has labelled a mined sentence differently")
        return
    person = who or _git_user()
    if person in {name for _, said in open_disputes for name in said}:
        raise DataError(
            f"{person} is one of those who disagree; somebody else decides, or all together (--who 'Ann and Bo')"
        )
    groups = [group for group, _ in open_disputes]
    disputed = {(group.kind, group.target): said for group, said in open_disputes}
    desk = _desk(construction, disputed)
    _run(construction, groups, person.removesuffix(DECIDES) + DECIDES, desk, browser)


def print_agreement(construction: str) -> None:
    """Print each conflict (what is labelled, who calls it what, its sentences), and kappa of every two people."""
    labels = read_labels(labels_file(construction))
    all_conflicts = conflicts(labels)
    if not mined_file(construction).is_file():
        shown: list[tuple[Target, Said, Sequence[MinedSentence]]] = [(*item, ()) for item in all_conflicts.items()]
        print(f"the sentences are not shown: {mined_file(construction)} is not here; `dvc pull` fetches it")
    else:
        groups = _mined_groups(construction)
        shown = [((group.kind, group.target), said, group.shown) for group, said in disputes(groups, labels)]
    for target, said, sentences in shown:
        print("\t".join([*target, ", ".join(f"{who}: {label}" for who, label in said.items())]))
        for sentence in sentences:
            print(f"  {sentence.text}\t{sentence.url}")
    if others := all_conflicts.keys() - {target for target, _, _ in shown}:
        print(f"{len(others)} conflicts more are about what this corpus does not have")
    if shown:
        print(f"{len(shown)} to decide: `cxprobe agreement {construction} --decide --who NAME`")
    compared = [pair for pair in kappas(labels) if pair.both]
    for pair in compared:
        value = "not defined" if pair.value is None else f"{pair.value:.3f}"
        print(f"{pair.first} and {pair.second}: {pair.agreed} of {pair.both} alike, kappa {value}")
    if not compared:
        print("nothing was labelled by two people; there is nothing to compare")
    if mined_file(construction).is_file():
        _print_yield(groups, labels)


def _print_yield(groups: Sequence[SentenceGroup], labels: Sequence[PersonLabel]) -> None:
    """Print the pattern's precision and how many instances there are, each with its interval of 95 %."""
    known = estimate_yield(groups, labels)
    if known is None:
        print("precision is not known: the first sequence of the random order is not labelled")
        return
    rate = known.precision
    print(
        f"precision {rate.value:.2f} [{rate.low:.2f}, {rate.high:.2f}], n = {rate.n}: the first {known.groups} of "
        f"{len(groups)} sequences in random order, unclear ones count as no instance"
    )
    for what, (expected, least, most), of in (
        ("all", known.instances, known.candidates),
        ("those nobody has labelled", known.left, known.unlabelled),
    ):
        print(f"instances among {what}: {expected:.0f} [{least:.0f}, {most:.0f}] of {of} sentences")


def _run(construction: str, groups: Sequence[SentenceGroup], who: str, desk: Desk, browser: bool) -> None:
    """Let the person label, in the browser or here, and say at the end what is left."""
    if not who.isprintable() or not who.strip():
        raise DataError(f"--who {who!r}: a name of printable characters is needed; labels.tsv is separated by tabs")
    path = labels_file(construction)
    today = datetime.now().astimezone().date().isoformat()
    start = start_session(groups, read_labels(path), who, today)
    saved = SavedSession(start, path)
    if browser:
        from cxprobe.people.page import LabelServer

        server = LabelServer(saved, desk)
        print(f"label at {server.address}", flush=True)
        print("every answer is saved at once; Ctrl-C ends the program", flush=True)
        if sys.stdout.isatty():
            webbrowser.open(server.address)
        server.serve_until_stopped()
    else:
        _ask_here(saved, desk)
    left, what = len(saved.session.unlabelled), "decisions" if desk.disputes else "sequences"
    print(f"{left} {what} left; the labels are in {path}")


def _ask_here(saved: SavedSession, desk: Desk) -> None:
    console = Console(highlight=False, markup=False, emoji=False)
    session = saved.session
    show_definition(desk.construction, console)
    while True:
        console.print()
        if session.said:
            console.print(session.said, style="italic", soft_wrap=not console.is_terminal)
        show_group(session, desk, console)
        text = _ask(console)
        if text == "q":
            return
        session = saved.say(text)
        if has_styles(console):
            console.clear()
            show_definition(desk.construction, console)


def _ask(console: Console) -> str:
    """Return what the person answers: a line of the input, or on a terminal the keys; at the end of the input "q".

    On a terminal only a number to go to ends with Enter.
    """
    try:
        if not (sys.stdin.isatty() and console.is_terminal):
            return input(f"{HELP}: ").strip()
        console.print(HELP, style="dim")
        key = typer.getchar(echo=False)
        if key == "g":
            return f"g {input('go to number: ').strip()}"
        if key.isdecimal() and 1 <= int(key) <= MOST_SHOWN:
            print(f"{key}: only sentence {key}", end=" ", flush=True)
            return key + typer.getchar(echo=False)
        return "q" if key == "\x04" else key
    except (EOFError, KeyboardInterrupt):
        return "q"


def labels_file(construction: str) -> Path:
    """Return the labels.tsv of a construction."""
    return CONSTRUCTIONS_FOLDER / construction / LABELS_FILE


def mined_file(construction: str) -> Path:
    """Return the mined sentences of a construction."""
    return load_params().mining.folder_of(construction) / "sentences.parquet"


def read_mined(construction: str) -> pd.DataFrame:
    """Return the mined sentences of a construction as a table.

    Raises:
        DataError: They are not there.
    """
    path = mined_file(construction)
    if not path.is_file():
        raise DataError(f"{path} does not exist; `dvc repro mine_sentences` makes it, `dvc pull` fetches it")
    return read_table(path)


def _mined_groups(construction: str) -> tuple[SentenceGroup, ...]:
    return group_sentences(read_mined(construction), load_params().seed)


def _desk(construction: str, disputed: Mapping[Target, Said]) -> Desk:
    """Return what is shown beside the sentences: definition, hits, labels to decide about.

    Args:
        construction: The construction's folder.
        disputed: The labels that a third person decides about.

    Raises:
        CxprobeError: The construction, its pattern or the tagger has faults.
    """
    from cxprobe.corpora.pattern import load_pattern
    from cxprobe.corpora.search import load_pipeline, pipeline_of

    params, content = load_params(), load_construction(construction)
    pattern = load_pattern(construction, content)
    finder = piece_finder(pattern, load_pipeline(pipeline_of(pattern, params.mining), pattern))
    needed = 0 if disputed else max(line.labels_needed(params) for line in LINES.values())
    mined = read_mined(construction)

    def tested(labels: Sequence[PersonLabel]) -> int:
        return max(line.labels_test(construction, params, mined, labels) for line in LINES.values())

    return Desk(content, finder, disputed, needed, tested)


def _git_user() -> str:
    done = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, check=False)
    if not done.stdout.strip():
        raise DataError("who labels? Give --who NAME, or tell git your name: git config user.name NAME")
    return done.stdout.strip()
