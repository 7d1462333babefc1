"""pool_examples: the items of constructions -> those from which the examples for questions about one are drawn."""

from cxprobe.prompting import inference_table, load_pool, pool_files
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import write_table


def pool_examples(stage: Stage) -> Outcome:
    name, settings = stage.item["construction"], stage.params.ask_llms
    for path in pool_files(name, settings):
        stage.use(path)
    table = inference_table(load_pool(name, settings))
    write_table(table, stage.data.with_suffix(".parquet"))
    return Outcome(metrics={"items": len(table), "constructions": table["construction"].nunique()})


if __name__ == "__main__":
    run_stage(pool_examples, "construction")
