"""list_asked: for each model of a line, which part of the items it is asked about; null for all."""

from cxprobe.files.writing import write_json
from cxprobe.lines import LINES
from cxprobe.project.params import Params, whole_params
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


def list_asked(stage: Stage[Params]) -> Outcome:
    content = stage.params.model_dump(mode="json")
    for line in LINES:
        section = content[line]
        for model in (*section["models"], *section.get("llms", ())):
            write_json(section.get("fewer", {}).get(model), stage.data / line / f"{model}.json")
    return Outcome()


if __name__ == "__main__":
    run_stage(list_asked, whole_params())
