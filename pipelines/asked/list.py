"""list_asked: for each model of a line, which part of the items it is asked about; null for all."""

from typing import Any

from pydantic import ConfigDict

from cxprobe.files.writing import write_json
from cxprobe.run.params import StageParams
from cxprobe.run.running import run_stage
from cxprobe.run.stage import Outcome, Stage


class Sections(StageParams):
    """All sections of params.yaml as they stand there; the stages of each line check their own."""

    model_config = ConfigDict(extra="allow")


def list_asked(stage: Stage[Sections]) -> Outcome:
    for line, section in (stage.params.model_extra or {}).items():
        if not isinstance(section, dict):
            continue
        fewer = section.get("fewer") or {}
        for model in (*(section.get("models") or ()), *(section.get("llms") or ())):
            part: Any = fewer.get(model)
            write_json(part, stage.data / line / f"{model}.json")
    return Outcome()


if __name__ == "__main__":
    run_stage(list_asked, Sections)
