"""judge_replies: raw replies -> right, wrong, unparsed or failed, and accuracies with intervals; asks no model."""

import pandas as pd

from cxprobe.judging import Judgement, accuracy, count_outcomes, judge_inference, judge_reasoning, spread_over_prompts
from cxprobe.records import RELATIONS
from cxprobe.stage import Outcome, Stage, run_stage
from cxprobe.storage import DATA, read_table, write_table

SETTING = ["construction", "set", "shots", "examples", "chain_of_thought"]


def judge_replies(stage: Stage) -> Outcome:
    name, slug = stage.item["construction"], stage.item["llm"]
    replies = read_table(stage.use(DATA / "ask_llms" / slug / f"{name}.parquet"))
    judgements = [_judge(reply) for _, reply in replies.iterrows()]
    judged = replies.assign(
        answer=[judgement.answer for judgement in judgements],
        outcome=[judgement.outcome for judgement in judgements],
        credit=[float(judgement.outcome == "right") for judgement in judgements],
    )
    write_table(judged, stage.data.with_suffix(".parquet"))
    by_prompt = accuracy(judged, [*SETTING, "prompt"])
    by_setting = accuracy(judged, SETTING)
    reasoning = judged[judged["kind"] == "reasoning"]
    tests = ["construction", "answerable", "test", "prompt", "chain_of_thought"]
    return Outcome(
        metrics={
            "outcomes": count_outcomes(judged, ["construction"]).drop(columns="construction").iloc[0].to_dict(),
            "sets": {
                str(of): rows.drop(columns="set").iloc[0].to_dict()
                for of, rows in accuracy(judged, ["set"]).groupby("set", sort=False)
            },
        },
        tables={
            "outcomes": count_outcomes(judged, [*SETTING, "prompt"]),
            "accuracy_by_prompt": by_prompt,
            "accuracy_by_setting": by_setting,
            "accuracy_by_test": accuracy(reasoning, tests),
            "accuracy_answerable": accuracy(reasoning, ["construction", "answerable", "prompt", "chain_of_thought"]),
            "spread_over_prompts": spread_over_prompts(by_prompt, SETTING),
        },
    )


def _judge(reply: pd.Series) -> Judgement:
    text = None if reply["failed"] else str(reply["reply"])
    chain_of_thought = bool(reply["chain_of_thought"])
    if reply["kind"] == "inference":
        return judge_inference(text, RELATIONS[int(reply["gold"])], chain_of_thought=chain_of_thought)
    return judge_reasoning(text, reply["gold"], chain_of_thought=chain_of_thought)


if __name__ == "__main__":
    run_stage(judge_replies, "llm", "construction")
