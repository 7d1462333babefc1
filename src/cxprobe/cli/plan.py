"""The command ``cxprobe plan``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cxprobe.cli.names import print_table
from cxprobe.errors import DataError

if TYPE_CHECKING:
    from cxprobe.report.line import Demand


def plan() -> None:
    """Say how many texts and tokens each model of params.yaml has left to read, and how many requests it gets.

    It counts what the making stages have made, which take no model: run `dvc repro make_pairs` for minimal pairs, and
    make_recognition, make_scenarios and make_prompts likewise. Stages that DVC finds up to date have nothing left. Of
    the others all texts are counted, also those whose answers are kept already.
    """
    from cxprobe.lines import LINES
    from cxprobe.lm.asking import CHARACTERS_PER_TOKEN
    from cxprobe.project.params import load_params

    params = load_params()
    rows: dict[str, Demand] = {}
    before, missing = ["list_code"], []
    for name, line in LINES.items():
        if params.params_of(name).nothing_to_do:
            continue
        try:
            rows |= {f"{row.stage}@{row.model}": row for row in line.demand(params)}
            before.append(f"make_{name}")
        except (DataError, FileNotFoundError) as fault:
            missing.append(f"{name} is not counted: run `dvc repro make_{name}` first ({fault})")
    if len(before) == 1 and missing:
        raise DataError("\n".join(missing))
    changed = changed_stages([*before, *rows])
    for stage in before:
        if stage in changed:
            print(f"{stage} is not up to date; run `dvc repro {stage}` to count what is new")
    for message in missing:
        print(message)
    left = [row for stage, row in rows.items() if stage in changed]
    if len(left) < len(rows):
        print(f"{len(rows) - len(left)} of {len(rows)} stages that ask a model are up to date")
    if not left:
        print("nothing is left to ask")
        return
    cells = [(row.stage, row.model, *(f"{n:,}" if n else "" for n in row[2:])) for row in left]
    print_table([("stage", "model", "texts", "tokens", "tokens back"), *cells], texts=2)
    print(f"Tokens are characters / {CHARACTERS_PER_TOKEN}. A masked model reads a text once for each of its tokens.")
    print("Answers that are kept already are counted too.")


def changed_stages(stages: Sequence[str]) -> set[str]:
    """Return the stages whose parameters, files or outputs DVC finds changed; outside of DVC, all of them."""
    from dvc.exceptions import NotDvcRepoError
    from dvc.repo import Repo

    try:
        with Repo() as repo:
            return set(stages) & set(repo.status(targets=list(stages)))
    except NotDvcRepoError:
        return set(stages)
