"""The command ``cxprobe plan``."""

from collections.abc import Sequence

from cxprobe.cli.names import print_table
from cxprobe.errors import DataError

HEADER = ("stage", "model", "texts", "tokens", "tokens back")


def plan() -> None:
    """Say how many texts and tokens each model of params.yaml has left to read, and how many requests it gets.

    It counts what the making stages have made: run `dvc repro make_recognition make_scenarios make_pairs make_prompts`
    first, which takes no model. Stages that DVC finds up to date have nothing left. Of the others all texts are
    counted; `cxprobe measure --status` says how many of their answers are kept already.
    """
    from cxprobe.files.writing import DATA
    from cxprobe.lines import LINES
    from cxprobe.lm.asking import CHARACTERS_PER_TOKEN
    from cxprobe.project.params import load_params

    params = load_params()
    lines = {name: line for name, line in LINES.items() if not params.params_of(name).nothing_to_do}
    making = [f"make_{name}" for name in lines]
    for stage in making:
        if not (DATA / stage).exists():
            raise DataError(f"data/{stage} is missing; `dvc repro {' '.join(making)}` makes what is counted")
    rows = {f"{row.stage}@{row.model}": row for line in lines.values() for row in line.demand(params)}
    before = ["list_code", *making]
    changed = changed_stages([*before, *rows])
    for stage in before:
        if stage in changed:
            print(f"{stage} is not up to date; run `dvc repro {stage}` to count what is new")
    left = [row for stage, row in rows.items() if stage in changed]
    if len(left) < len(rows):
        print(f"{len(rows) - len(left)} of {len(rows)} stages that ask a model are up to date")
    if not left:
        print("nothing is left to ask")
        return
    cells = [(row.stage, row.model, *(f"{n:,}" if n else "" for n in row[2:])) for row in left]
    print_table([HEADER, *cells], texts=2)
    print(f"Tokens are characters / {CHARACTERS_PER_TOKEN}. A masked model reads a text once for each of its tokens.")
    print("Answers that are kept already are counted too; `cxprobe measure --status` says how many they are.")


def changed_stages(stages: Sequence[str]) -> set[str]:
    """Return those of some stages whose parameters, files or outputs DVC finds changed; all of them outside of DVC."""
    from dvc.exceptions import NotDvcRepoError
    from dvc.repo import Repo

    try:
        with Repo() as repo:
            return set(stages) & set(repo.status(targets=list(stages)))
    except NotDvcRepoError:
        return set(stages)
