"""What tests of whole projects ask: which stages ran, which a change has reached, and which runs MLflow has."""

import json
from contextlib import chdir
from pathlib import Path

from dvc.repo import Repo
from mlflow import MlflowClient

from conftest import change_params

BENCHMARK = {"format": "blimp", "files": "*.jsonl", "by": ["phenomenon"], "score": "sum"}
WATCHED = "watch_corpora@toys"  # looks at the corpus's files whenever DVC runs


def change(folder: Path, edit) -> None:
    change_params(folder, folder / "params.yaml", edit)


def stages_that_ran(output: str) -> list[str]:
    ran = [line.split("'")[1] for line in output.splitlines() if line.startswith("Running stage")]
    return [stage for stage in ran if stage != WATCHED]


def outdated(folder: Path) -> dict[str, list]:
    """Return the stages that a change has reached, as `dvc status` does: those that run next, with the reasons."""
    with chdir(folder), Repo() as repo:
        return {stage: reasons for stage, reasons in repo.status().items() if stage != WATCHED}


def runs(folder: Path, experiment: str, query: str = ""):
    client = MlflowClient(f"sqlite:///{folder.resolve() / 'mlruns' / 'mlflow.db'}")
    return client.search_runs([client.get_experiment_by_name(experiment).experiment_id], query)


def write_benchmark(folder: Path, name: str = "toy-blimp") -> None:
    """Write the files of `BENCHMARK` into a project: four pairs, of which one has two texts that are the same."""
    kept = {"field": "morphology", "linguistics_term": "agreement", "UID": "toy_agreement"}
    ends = {"cat": "runs", "dog": "run", "horse": "run", "bird": "run"}
    rows = [
        {"sentence_good": f"the {noun} runs.", "sentence_bad": f"the {noun} {end}.", "pairID": noun} | kept
        for noun, end in ends.items()
    ]
    path = folder / "data/benchmarks" / name / "toy_agreement.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(map(json.dumps, rows)))
