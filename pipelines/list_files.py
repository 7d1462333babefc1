"""list_files: for each task the files of its constructions, so that DVC sees which have changed."""

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.files.writing import digest, write_bytes
from cxprobe.project.params import Params, whole_params
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage
from cxprobe.tasks.registry import TASKS

# What reads -> the files by which it knows its constructions, and what else it reads in the folders that have them.
READ = {
    "corpora": (["pattern.yaml"], ["construction.yaml"]),
    "recognition": (["grammars/*", "labels.tsv", "pattern.yaml"], ["construction.yaml"]),
    "scenarios": (["scenarios.yaml"], []),
    "pairs": (["contrasts.yaml", "form_pairs.yaml", "pairs.yaml"], []),
    "ratings": (["ratings.tsv"], []),
    "prompts": (["items.yaml"], []),
    "interventions": (["interventions.yaml"], ["form_pairs.yaml", "pairs.yaml"]),
    "report": (["construction.yaml"], []),
}


def list_files(stage: Stage[Params]) -> Outcome:
    params = stage.params
    named = {"corpora": set(params.mining.constructions)}
    for name, task in TASKS.items():
        constructions = params.params_of(name).of_task.constructions
        named[name] = {task.params.construction_of(construction) for construction in constructions}
    every = set[str]().union(*named.values())
    for reader, (own, others) in READ.items():
        lines = []
        for folder in sorted(CONSTRUCTIONS_FOLDER / name for name in named.get(reader, every)):
            if any(any(folder.glob(pattern)) for pattern in own):
                files = [path for pattern in (*own, *others) for path in sorted(folder.glob(pattern)) if path.is_file()]
                lines += [f"{digest(path)}  {path.as_posix()}\n" for path in files]
        write_bytes("".join(lines).encode(), stage.data / f"{reader}.txt")
    return Outcome()


if __name__ == "__main__":
    run_stage(list_files, whole_params())
