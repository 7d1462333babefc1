"""list_files: for each task the files of its constructions, so that DVC sees which have changed."""

from cxprobe.constructions.construction import CONSTRUCTIONS_FOLDER
from cxprobe.errors import ParamsError
from cxprobe.files.schema import read_yaml
from cxprobe.files.writing import digest, write_bytes
from cxprobe.run.params import PARAMS_FILE, StageParams
from cxprobe.run.running import Outcome, Stage, run_stage
from cxprobe.tasks.pairs.params import PairsStage

# What reads -> the files by which it knows its constructions, and what else it reads in the folders that have them.
READ = {
    "corpora": (["pattern.yaml"], ["construction.yaml"]),
    "recognition": (["grammars/*", "labels.tsv", "pattern.yaml"], ["construction.yaml"]),
    "scenarios": (["scenarios.yaml"], []),
    "contrasts": (["contrasts.yaml"], []),
    "pairs": (["form_pairs.yaml", "pairs.yaml"], []),
    "prompts": (["items.yaml"], []),
    "interventions": (["interventions.yaml"], ["form_pairs.yaml", "pairs.yaml"]),
    "report": (["construction.yaml"], []),
}


def list_files(stage: Stage[StageParams]) -> Outcome:
    # The file itself: with the classes of all tasks, each edit of a task would run this stage.
    params = read_yaml(PARAMS_FILE, ParamsError)
    named = {
        "corpora" if section == "mining" else section: set(map(PairsStage.construction_of, content["constructions"]))
        for section, content in params.items()
        if isinstance(content, dict) and "constructions" in content
    }
    every = set[str]().union(*named.values())
    for reader, (own, others) in READ.items():
        lines = []
        for folder in sorted(CONSTRUCTIONS_FOLDER / name for name in named.get(reader, every)):
            if any(any(folder.glob(pattern)) for pattern in own):
                files = [path for pattern in (*own, *others) for path in sorted(folder.glob(pattern)) if path.is_file()]
                lines += [f"{digest(path)}  {path.as_posix()}\n" for path in files]
        text = "".join(lines) or "no construction has files of it\n"  # DVC warns of an empty file at each command
        write_bytes(text.encode(), stage.data / f"{reader}.txt")
    return Outcome()


if __name__ == "__main__":
    run_stage(list_files, StageParams)
