"""Tasks for inspect_ai: its scorer and this project's judging agree on the same replies, and its logs can be opened."""

from contextlib import chdir
from itertools import cycle

import pandas as pd
import pytest
from inspect_ai import eval as evaluate
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from cxprobe.exports.inspection import inspect_files
from cxprobe.exports.project import write_files
from cxprobe.lines import LINES
from cxprobe.prompts.judge import judge_reply_table

pytest_plugins = ["exported_project"]

# Right and wrong ones, those that must be read, and those from which nothing may be guessed.
REPLIES = ["0", "Answer: 1", "I would say contradiction.", "0 or 1", "B", "The answer is C.", "**A**", "", "A: no"]


@pytest.fixture
def questions(made_params):
    return LINES["prompts"].questions(made_params)


def run(folder, questions, replies, task="task.py", **arguments):
    """Write the tasks into a folder and run them with a model that gives fixed replies; return the logs."""
    write_files(inspect_files(questions), folder)
    said = cycle(replies)

    def say(*_):
        output = ModelOutput.from_content("mockllm/model", next(said))
        output.usage = ModelUsage()  # else inspect fetches a tokenizer to count
        return output

    model = get_model("mockllm/model", custom_outputs=say, memoize=False)
    with chdir(folder):
        return evaluate(task, model=model, log_dir=str(folder / "logs"), display="none", task_args=arguments)


def test_accuracy_and_unparsed_replies_are_those_of_this_project(questions, tmp_path):
    logs = run(tmp_path, questions, REPLIES)
    assert [log.status for log in logs] == ["success", "success"]
    kinds = {"nli": "inference", "reasoning": "reasoning"}
    for log in logs:
        samples = read_eval_log(log.location).samples
        replies = pd.DataFrame([(one.id, one.output.completion, False) for one in samples])
        replies.columns = ["id", "reply", "failed"]
        own = questions[questions["kind"] == kinds[log.eval.task]]
        judged = judge_reply_table(own, replies).set_index("id")
        metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
        assert metrics["accuracy"] == pytest.approx(judged["credit"].mean())
        assert metrics["unparsed"] == pytest.approx((judged["outcome"] == "unparsed").mean())
        assert 0 < metrics["accuracy"] < 1
        for one in samples:
            assert one.scores["stated_answer"].answer == judged.loc[one.id, "answer"], one.output.completion


def test_questions_can_be_chosen_by_prompt_and_shots(questions, tmp_path):
    (log,) = run(tmp_path, questions, ["0"], "task.py@nli", prompt="paper-2", shots=0)
    inferences = questions[questions["kind"] == "inference"]
    wanted = inferences[(inferences["prompt"] == "paper-2") & (inferences["shots"] == 0)]
    assert {str(one.id) for one in log.samples} == set(wanted["id"])


def test_the_folder_needs_nothing_of_this_project(questions):
    files = inspect_files(questions)
    for name, content in files.items():
        if name.endswith(".py"):
            assert "cxprobe" not in content.decode().replace("`cxprobe", "")
