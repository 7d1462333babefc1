"""The command ``cxprobe papers``."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from cxprobe.planning.atlas import Costs

PAGE = Path("docs/papers.md")
COSTS = Path("docs/costs.yaml")
ALL_MODELS = "paper"  # the preset with the models of all papers
_COSTS_HEAD = (
    "# What each stage of each preset takes for each model, in two digits. Written by `cxprobe papers --count`.\n"
)


def papers(
    count: Annotated[
        bool, typer.Option("--count", help="Count anew what the presets take, which needs a minute.")
    ] = False,
) -> None:
    """Write docs/papers.md: where each experiment, table and figure of the papers is, how to run it, what it takes."""
    from cxprobe.files.writing import write_bytes

    if count:
        write_bytes(costs_text(count_costs()).encode(), COSTS)
    write_bytes(make_papers_page().encode(), PAGE)
    print(f"{PAGE} says what the presets and the pipeline say")


def make_papers_page() -> str:
    """Return the page about the papers, from the files of the working directory.

    Raises:
        CxprobeError: docs/papers.yaml, docs/costs.yaml, docs/plan.yaml, dvc.yaml or a preset has faults, or the first
            says what is not so.
    """
    from cxprobe.errors import DataError
    from cxprobe.files.schema import read_yaml, validate
    from cxprobe.planning.atlas import ATLAS_FILE, PRESETS_FOLDER, Costs, faults_of_atlas, load_atlas
    from cxprobe.planning.facts import load_facts
    from cxprobe.planning.papers_page import page_of_papers
    from cxprobe.run.params import load_params

    atlas, contents = load_atlas(), read_presets()
    if faults := list(faults_of_atlas(atlas, read_yaml(Path("dvc.yaml"), DataError), contents, Path.is_file)):
        raise DataError("\n".join(f"{ATLAS_FILE}: {fault}" for fault in faults))
    presets = {name: load_params(PRESETS_FOLDER / f"{name}.yaml") for name in contents}
    costs = validate(Costs, read_yaml(COSTS, DataError), COSTS, DataError)
    return page_of_papers(atlas, presets, costs, load_facts())


def read_presets() -> dict[str, Mapping[str, Any]]:
    """Return the content of the presets that the atlas names, and of the one that has all models.

    Raises:
        DataError: A file cannot be read.
    """
    from cxprobe.errors import DataError
    from cxprobe.files.schema import read_yaml
    from cxprobe.planning.atlas import PRESETS_FOLDER, load_atlas

    named = dict.fromkeys([*(paper.preset for paper in load_atlas().papers), ALL_MODELS])
    return {name: read_yaml(PRESETS_FOLDER / f"{name}.yaml", DataError) for name in named}


def count_costs() -> "Costs":
    """Return what the stages of each preset take, as if nothing had been imported.

    Raises:
        CxprobeError: A file has faults; `cxprobe check` tells those of all files.
    """
    from cxprobe.cli.plan import plan_of
    from cxprobe.planning.atlas import PRESETS_FOLDER, Costs
    from cxprobe.planning.page import costs_of
    from cxprobe.planning.papers_page import rounded

    return Costs(
        presets={
            name: rounded(costs_of(plan_of(PRESETS_FOLDER / f"{name}.yaml", imports=False))) for name in read_presets()
        }
    )


def costs_text(costs: "Costs") -> str:
    """Return docs/costs.yaml."""
    lines = [_COSTS_HEAD + "presets:"]
    for preset, stages in costs.presets.items():
        lines.append(f"  {preset}:")
        for stage, models in stages.items():
            lines.append(f"    {stage}:")
            for model, cost in models.items():
                numbers = [f"{key}: {value:g}" for key, value in cost.model_dump().items() if value or key == "texts"]
                lines.append(f"      {model}: {{{', '.join(numbers)}}}")
    return "\n".join(lines) + "\n"
