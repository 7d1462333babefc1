"""The commands by which people label mined sentences: ``cxprobe label`` and ``cxprobe agreement``."""

import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxprobe.cli.labels_desk import make_desk, mined_file, mined_groups
from cxprobe.cli.names import ConstructionName
from cxprobe.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from cxprobe.people.cards import Desk
    from cxprobe.people.labels import Label
    from cxprobe.people.page import SavedSession
    from cxprobe.people.sessions import Group, Session

Who = Annotated[str, typer.Option(help="Your name in labels.tsv; by default the one that git knows.")]
Browser = Annotated[bool, typer.Option("--browser", help="Label in the browser, on this machine.")]
ReadCorpus = Annotated[
    bool | None,
    typer.Option(
        "--read-corpus/--no-corpus", help="Show the sentences around, from the corpus; by default if it is small."
    ),
]


def label(
    construction: ConstructionName,
    who: Who = "",
    browser: Browser = False,
    export: Annotated[
        Path | None, typer.Option(help="Write tasks for Label Studio (JSON), and its configuration (.xml) beside them.")
    ] = None,
    import_: Annotated[
        Path | None, typer.Option("--import", help="Add the labels of an export of Label Studio (JSON).")
    ] = None,
    annotator: Annotated[
        list[str] | None,
        typer.Option(help="With --import: who an annotator of Label Studio is, as 3=NAME; several times for several."),
    ] = None,
    read_corpus: ReadCorpus = None,
) -> None:
    """Label what was mined for a construction, sequence by sequence; it goes on where you stopped."""
    path = _labels_file(construction)
    if export is not None and import_ is not None:
        raise DataError("--export and --import: one at a time")
    if annotator and import_ is None:
        raise DataError("--annotator says who is who in --import FILE, which is not given")
    if import_ is not None:
        _import(construction, import_, _people(annotator or [], who), path)
    elif export is not None:
        _export(construction, export, read_corpus)
    else:
        from cxprobe.people.decisions import is_decision

        groups, person = mined_groups(construction), who or _git_user()
        if is_decision(person):
            raise DataError(f"--who '{person}': decisions are made by `cxprobe agreement {construction} --decide`")
        _run(path, _session(groups, path, person), make_desk(construction, groups, read_corpus=read_corpus), browser)


def agreement(
    construction: ConstructionName,
    decide: Annotated[
        bool, typer.Option("--decide", help="Decide, as a third person, what others have labelled differently.")
    ] = False,
    who: Who = "",
    browser: Browser = False,
    read_corpus: ReadCorpus = None,
) -> None:
    """List what people have labelled differently with its sentences, and Cohen's kappa of every two of them."""
    path = _labels_file(construction)
    if decide:
        _decide(construction, path, who or _git_user(), browser, read_corpus)
        return
    if browser:
        raise DataError("--browser goes with --decide; without it the conflicts are listed here")
    from cxprobe.people.agreement import kappas
    from cxprobe.people.labels import read_labels

    labels = read_labels(path)
    _print_conflicts(construction, labels)
    for pair in kappas(labels):
        shown = "not defined" if pair.value is None else f"{pair.value:.3f}"
        print(f"{pair.first} and {pair.second}: {pair.agreed} of {pair.both} alike, kappa {shown}")
    if len({one.who for one in labels}) < 2:
        print("fewer than two people have labelled; there is nothing to compare")


def _print_conflicts(construction: str, labels: "list[Label]") -> None:
    """Print each conflict: what is labelled, who calls it what, and its sentences."""
    from cxprobe.people.agreement import conflicts, disputes

    if not mined_file(construction).is_file():
        for conflict in conflicts(labels):
            said = ", ".join(f"{who}: {judgement}" for who, judgement in conflict.labels)
            print(f"{conflict.kind}\t{conflict.target}\t{said}")
        print(f"the sentences are not shown: {mined_file(construction)} is not here; `dvc pull` fetches it")
        return
    found = disputes(mined_groups(construction), labels)
    for group, conflict in found:
        said = ", ".join(f"{who}: {judgement}" for who, judgement in conflict.labels)
        print(f"{conflict.kind}\t{conflict.target}\t{said}")
        for one in group.shown:
            print(f"  {one.text}\t{one.url}")
    mined = {(group.kind, group.target) for group, _ in found}
    if unused := [one for one in conflicts(labels) if (one.kind, one.target) not in mined]:
        print(f"{len(unused)} conflicts more are about what this corpus does not have")
    if found:
        print(f"{len(found)} to decide: `cxprobe agreement {construction} --decide --who NAME`")


def _decide(construction: str, path: Path, who: str, browser: bool, read_corpus: bool | None) -> None:
    from cxprobe.people.agreement import disputes
    from cxprobe.people.decisions import DECIDES
    from cxprobe.people.labels import read_labels

    found = disputes(mined_groups(construction), read_labels(path))
    groups, conflicts = [group for group, _ in found], [conflict for _, conflict in found]
    if not groups:
        print("there is nothing to decide: nobody has labelled a mined sentence differently")
        return
    if who in {person for conflict in conflicts for person, _ in conflict.labels}:
        raise DataError(
            f"{who} is one of those who disagree; somebody else decides, or all together under a name for it "
            "(--who 'Ann and Bo')"
        )
    session = _session(groups, path, who.removesuffix(DECIDES) + DECIDES)
    _run(path, session, make_desk(construction, groups, conflicts, read_corpus), browser)


def _session(groups: "Sequence[Group]", path: Path, who: str) -> "Session":
    from cxprobe.people.labels import read_labels
    from cxprobe.people.sessions import start_session

    if not who.isprintable() or not who.strip():
        raise DataError(f"--who {who!r}: a name of printable characters is needed; labels.tsv is separated by tabs")
    return start_session(groups, read_labels(path), who, datetime.now().astimezone().date().isoformat())


def _run(path: Path, session: "Session", desk: "Desk", browser: bool) -> None:
    """Let the person label, in the browser or here, and say at the end what is left."""
    from cxprobe.people.page import SavedSession

    saved = SavedSession(session, path)
    if browser:
        _serve(saved, desk)
    else:
        _ask_here(saved, desk)
    print(f"{saved.session.left} {'sequences' if not desk.disputes else 'decisions'} left; the labels are in {path}")


def _serve(saved: "SavedSession", desk: "Desk") -> None:
    import webbrowser

    from cxprobe.people.page import LabelServer

    with LabelServer(saved, desk) as server:
        print(f"label at {server.address}", flush=True)
        print("every answer is saved at once; Ctrl-C ends the program", flush=True)
        if sys.stdout.isatty():
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


def _ask_here(saved: "SavedSession", desk: "Desk") -> None:
    from rich.console import Console

    from cxprobe.people.cards import card_of, progress_of
    from cxprobe.people.screen import blocks_of_card, blocks_of_definition, is_plain, show
    from cxprobe.people.sessions import HELP

    console = Console(highlight=False, markup=False, emoji=False)
    plain, said = is_plain(console), ""
    show(blocks_of_definition(desk.construction), console)
    while True:
        console.print()
        if said:
            console.print(said, style="italic", soft_wrap=not console.is_terminal)
        card, progress = card_of(saved.session, desk), progress_of(saved.session)
        if card is None:
            console.print(f"all are labelled: {progress}")
        else:
            show(blocks_of_card(card, len(saved.session.groups), progress, plain=plain), console)
        text = _ask(HELP, console)
        if text == "q":
            return
        said = saved.say(text).said
        if not plain:
            console.clear()
            show(blocks_of_definition(desk.construction), console)


def _ask(choices: str, console: "Console") -> str:
    """Return what the person answers: a key on a terminal, else a line; the end of the input means to quit."""
    if sys.stdin.isatty() and console.is_terminal:
        console.print(choices, style="dim")
        return _ask_key()
    try:
        return input(f"{choices}: ").strip()
    except EOFError:
        return "q"


def _ask_key() -> str:
    """Return the answer that the keys pressed make up; only a number to go to and a search end with Enter."""
    try:
        key = typer.getchar(echo=False)
        if key == "g":
            return f"g {input('go to number: ').strip()}"
        if key == "/":
            return f"/{input('search for: ').strip()}"
        if key in ("1", "2", "3", "4", "5"):
            print(f"{key}: only sentence {key}", end=" ", flush=True)
            return key + typer.getchar(echo=False)
        return "q" if key == "\x04" else key
    except (KeyboardInterrupt, EOFError):
        return "q"


def _export(construction: str, path: Path, read_corpus: bool | None) -> None:
    import json

    from cxprobe.files.writing import write_bytes
    from cxprobe.people.label_studio import CONFIG, tasks_of

    config = path.with_suffix(".xml")
    if path.suffix != ".json":
        raise DataError(f"--export {path}: the name must end in .json; the configuration is written to .xml beside it")
    groups = mined_groups(construction)
    tasks = tasks_of(construction, groups, make_desk(construction, groups, read_corpus=read_corpus))
    write_bytes(json.dumps(tasks, indent=1, ensure_ascii=False).encode(), path)
    write_bytes(CONFIG.encode(), config)
    print(
        f"{len(tasks)} tasks: {path}; import them into a project of Label Studio whose labelling interface is {config}"
    )
    print(f"export there as JSON, then: cxprobe label {construction} --import FILE --who NAME")


def _import(construction: str, path: Path, people: dict[int, str], labels_file: Path) -> None:
    import json

    from cxprobe.files.reading import read_text
    from cxprobe.people.label_studio import read_annotations
    from cxprobe.people.labels import read_labels, with_label, write_labels

    try:
        content = json.loads(read_text(path, DataError))
    except (ValueError, RecursionError) as fault:
        raise DataError(f"{path}: it is no JSON ({fault}); export from Label Studio in the format JSON") from None
    imported = read_annotations(content, construction, mined_groups(construction), people, str(path))
    labels, before = read_labels(labels_file), set(read_labels(labels_file))
    for one in imported.labels:
        labels = with_label(labels, one)
    write_labels(labels, labels_file)
    new = len(set(labels) - before)
    print(f"{len(imported.labels)} labels by {', '.join(sorted({one.who for one in imported.labels})) or 'nobody'}")
    print(f"{new} of them are new or changed; {imported.skipped} cancelled annotations are left out; ", end="")
    print(f"{imported.unlabelled} tasks have none")
    print(f"the labels are in {labels_file}")


def _people(given: list[str], who: str) -> dict[int, str]:
    """Return who each annotator of Label Studio is; 0 stands for the only one."""
    from cxprobe.people.decisions import is_decision

    people = {}
    for one in given:
        number, sign, name = one.partition("=")
        if not (sign and number.isascii() and number.isdigit() and number != "0" and name.strip()):
            raise DataError(f"--annotator {one}: expected a number of Label Studio and a name, as 3=Ann")
        people[int(number)] = name.strip()
    if not people:
        people[0] = who or _git_user()
    if bad := [name for name in people.values() if is_decision(name) or not name.isprintable()]:
        raise DataError(f"'{bad[0]}' cannot be the name of a person who labels")
    return people


def _labels_file(construction: str) -> Path:
    from cxprobe.constructions.construction import load_construction
    from cxprobe.run.params import CONSTRUCTIONS_FOLDER

    load_construction(construction)  # so that a mistyped name is reported, and does not make a new folder
    return CONSTRUCTIONS_FOLDER / construction / "labels.tsv"


def _git_user() -> str:
    done = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, check=False)
    if not done.stdout.strip():
        raise DataError("who labels? Give --who NAME, or tell git your name: git config user.name NAME")
    return done.stdout.strip()
