"""The command ``cxprobe check``: faults of files, and the work that is left."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cxprobe.cli.models import print_table
from cxprobe.errors import DataError

if TYPE_CHECKING:
    from cxprobe.project.params import Params
    from cxprobe.results.task import Demand

ALWAYS_CHANGED = "always changed"  # what DVC says of a stage that looks at each run, if nothing else changed


class _NotNeeded(MetaPathFinder):
    """Lets imports run as if two packages were not installed, where they are not loaded already.

    NLTK, lemminflect and PyTorch import these where they are installed: four seconds for what no check uses.
    """

    def find_spec(self, name: str, *_: object) -> None:
        """Refuse the packages and what is in them; leave all others to the finders that follow."""
        if name.partition(".")[0] in ("sklearn", "spacy"):
            raise ModuleNotFoundError(f"{name} is not imported by `cxprobe check`", name=name)


def check(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A construction, of which alone the files are checked.")
    ] = "",
) -> None:
    """Check params.yaml and all files of constructions/, lexicon/ and prompts/, and report all their faults at once.

    Without a fault it says how many texts, tokens and requests each model has left, where the items are made, and
    writes params.schema.json, by which editors complete params.yaml, where it changed. Of one construction it tries the
    examples of pattern.yaml, and prints an item of each kind.
    """
    not_needed = _NotNeeded()
    sys.meta_path.insert(0, not_needed)
    try:
        from cxprobe.files.writing import write_bytes
        from cxprobe.models.params import empty_names
        from cxprobe.project.checks import find_faults
        from cxprobe.project.constructions import read_constructions, require_construction
        from cxprobe.project.params import SCHEMA_FILE, load_params, schema_text
        from cxprobe.tasks.registry import TASKS

        if name:
            require_construction(name)
        faults = find_faults(name)
    finally:
        sys.meta_path.remove(not_needed)
    if faults.lines:
        count = f"{len(faults.lines)} faults" if len(faults.lines) > 1 else "1 fault"
        print("\n".join([*faults.lines, count]), file=sys.stderr)
        raise SystemExit(2)
    if name:
        _try_pattern(name)
        print(f"constructions/{name} has no fault", *faults.notes, sep="\n")
        for task, items in read_constructions([name])[name].items.items():
            for one in TASKS[task].examples(items):
                print(f"{one.kind}: {one.text} {one.right}")
        return
    print("params.yaml and the files of constructions/, lexicon/ and prompts/ have no fault")
    params = load_params()
    for key in empty_names(params.models, params.models):
        print(f"params.yaml: {key}: is empty; write it before a task names this model")
    for note in faults.notes:
        print(note)
    schema = schema_text().encode()
    if not SCHEMA_FILE.is_file() or SCHEMA_FILE.read_bytes() != schema:
        write_bytes(schema, SCHEMA_FILE)
        print(f"{SCHEMA_FILE} is written anew")
    print_what_is_left(params)


def _try_pattern(name: str) -> None:
    """Check the pattern of a construction, if it has one, by the sentences that must and must not match."""
    from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
    from cxprobe.corpora.pattern import load_wanted
    from cxprobe.project.params import load_params

    path = CONSTRUCTIONS_FOLDER / name / "pattern.yaml"
    if not path.is_file():
        return
    from cxprobe.corpora.search import check_examples, load_matchers, pipeline_of  # spaCy

    pattern = load_wanted(name).pattern
    matchers = load_matchers({name: pattern}, {name: pipeline_of(pattern, load_params().mining)})
    check_examples(matchers[name], path)


def print_what_is_left(params: "Params") -> None:
    """Print the work that is left of each model in each stage, from the items that the making stages have made."""
    from cxprobe.models.asking import CHARACTERS_PER_TOKEN

    rows, counted = demand_by_stage(params)
    before = ["list_code", "list_files", *(f"make_{name}" for name in counted)]
    changed = changed_stages([*before, *rows])
    for stage in before:
        if stage in changed and len(before) > 2:
            print(f"{stage} is not up to date; run `dvc repro {stage}` to count what is new")
    left = [row for stage, row in rows.items() if stage in changed]
    if rows:
        print(f"{len(rows) - len(left)} of {len(rows)} stages that ask a model are up to date")
    if left:
        cells = [(row.stage, row.model, *(f"{n:,}" if n else "" for n in row[2:])) for row in left]
        print_table([("stage", "model", "texts", "tokens", "tokens back"), *cells], texts=2)
        print(
            f"Tokens are characters / {CHARACTERS_PER_TOKEN}. A masked model reads a text once for each of its tokens. "
            "Texts and requests whose answers an earlier run has kept are counted, and not asked again."
        )


def demand_by_stage(params: "Params") -> tuple[dict[str, "Demand"], list[str]]:
    """Return the work of each stage that asks a model, by its name; and the tasks whose items are made.

    Tasks whose items are not made are named on the screen.
    """
    from cxprobe.tasks.registry import TASKS

    rows: dict[str, Demand] = {}
    counted, missing = [], []
    for name, task in TASKS.items():
        if params.params_of(name).nothing_to_do:
            continue
        try:
            rows |= {f"{row.stage}@{row.model}": row for row in task.demand(params)}
            counted.append(name)
        except (DataError, FileNotFoundError):
            missing.append(name)
    if missing:
        stages = " ".join(f"make_{name}" for name in missing)
        print(f"{', '.join(missing)} cannot be counted before `dvc repro {stages}` has made the items")
    return rows, counted


def changed_stages(stages: Sequence[str]) -> set[str]:
    """Return the stages whose parameters, files or outputs DVC finds changed; outside of DVC, all of them."""
    from dvc.exceptions import DvcException, NotDvcRepoError
    from dvc.repo import Repo

    if not Path("dvc.yaml").is_file():
        return set(stages)
    try:
        with Repo() as repo:
            status = repo.status(targets=list(stages))
    except NotDvcRepoError:
        return set(stages)
    except DvcException as fault:
        raise DataError(f"DVC cannot read the project: {fault}") from fault
    return {stage for stage in stages if status.get(stage, [ALWAYS_CHANGED]) != [ALWAYS_CHANGED]}
