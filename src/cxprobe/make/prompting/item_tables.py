"""All items about a construction, apart from the prompts: what is asked about, and what blind models are trained on."""

import pandas as pd

from cxprobe.make.prompting.material import Material
from cxprobe.make.prompting.questions import template_cluster
from cxprobe.records import CLUSTER, RELATIONS, Inference, Reasoning

_COLUMNS = [
    *("id", "kind", "set", "construction", "test", "template", "reading", "answerable", "gold"),
    *("premise", "hypothesis", "text", "question", "a", "b", f"{CLUSTER}premise", f"{CLUSTER}wording"),
]


def item_table(material: Material, questions: pd.DataFrame) -> pd.DataFrame:
    """Return every item of the material once, whether or not it is among those that are drawn to be asked.

    Args:
        material: The items.
        questions: What `build_questions` returns of this material, with the column item.

    Returns:
        One row per item: id; kind ("inference" or "reasoning"), set, construction, test, template, reading, answerable,
        cluster_premise and cluster_wording as questions have them; gold (the digit, or the letter in the order of
        options a, b and "not enough information"); premise and hypothesis (of inference, else ""); text, question, a
        and b (of reasoning, else ""); and drawn, whether any question is about it.
    """
    drawn = set(questions["item"])
    inferences = [_of_inference(item) for own in material.inferences.values() for item in own]
    rows = [*inferences, *(_of_reasoning(item) for item in material.reasonings)]
    table = pd.DataFrame(rows, columns=_COLUMNS).drop_duplicates("id", ignore_index=True)
    return table.assign(drawn=table["id"].isin(drawn))


def _of_inference(item: Inference) -> dict[str, object]:
    template = template_cluster(item)
    return {
        **{"id": item.id, "kind": "inference", "set": item.set, "construction": item.construction},
        **{
            "test": "",
            "template": item.template,
            "reading": item.reading,
            "answerable": True,
            "gold": str(RELATIONS.index(item.gold)),
        },
        **{"premise": item.premise, "hypothesis": item.hypothesis, "text": "", "question": "", "a": "", "b": ""},
        **{f"{CLUSTER}premise": item.premise_id, f"{CLUSTER}wording": template},
    }


def _of_reasoning(item: Reasoning) -> dict[str, object]:
    return {
        **{"id": item.id, "kind": "reasoning", "set": item.set, "construction": item.construction},
        **{"test": item.test, "template": "", "reading": "", "answerable": item.answerable, "gold": item.gold},
        **{"premise": "", "hypothesis": "", "text": item.text, "question": item.question, "a": item.a, "b": item.b},
        **{f"{CLUSTER}premise": item.frame_id, f"{CLUSTER}wording": template_cluster(item)},
    }
