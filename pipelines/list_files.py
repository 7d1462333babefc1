"""list_files: for each task the files of constructions that it reads, so that DVC sees which have changed."""

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.files.writing import digest, write_bytes
from cxprobe.run.params import StageParams
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage

# Task -> the files by which it knows its constructions, and what else it reads in the folders that have them.
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


def list_files(stage: Stage[StageParams]) -> Outcome:
    for task, (own, others) in READ.items():
        tasks = []
        for folder in sorted(CONSTRUCTIONS_FOLDER.glob("*/")):
            if any(any(folder.glob(pattern)) for pattern in own):
                files = [path for pattern in (*own, *others) for path in sorted(folder.glob(pattern)) if path.is_file()]
                tasks += [f"{digest(path)}  {path.as_posix()}\n" for path in files]
        write_bytes("".join(tasks).encode(), stage.data / f"{task}.txt")
    return Outcome()


if __name__ == "__main__":
    run_stage(list_files, StageParams)
