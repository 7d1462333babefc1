"""How often a construction is said to add to what it does not bear on: `python .../irrelevant_questions.py MODEL`.

The sets of contrasts in which people are asked for get other questions, such as who was tired: nothing that any of
their contexts says bears on these. The control keeps its own questions, so that it can be passed. Every verdict that
a construction adds something is false. `let-alone` is left out: it asks about things.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import typer

import cxprobe
from cxprobe.constructions.construction import PEOPLE_FILE, load_people
from cxprobe.models.texts import pair_table
from cxprobe.results.verdict import ADDS
from cxprobe.seeding import SEED
from cxprobe.survey import surveyed_constructions
from cxprobe.tasks.contrasts.make import OwnQuestions, Question, contrast_pairs, load_contrasts
from cxprobe.tasks.contrasts.params import MakeContrasts

ROOT = Path(__file__).parents[1]
FRAMES = 16
OF_PEOPLE = ["{N1}", "{N2}"]
IRRELEVANT = [
    ("The one who was tired is {answer}.", "The one who was hungry is {answer}."),
    ("It was {answer} who liked music.", "It was {answer} who liked painting."),
    ("The older one was {answer}.", "The younger one was {answer}."),
    ("Who had a sister? {answer}.", "Who had a brother? {answer}."),
    ("The person with the red coat was {answer}.", "The person with the green coat was {answer}."),
    ("In spring, {answer} had a birthday.", "In autumn, {answer} had a birthday."),
]
"""Two questions, in place of those of a wording: N1 counts as right after the first, N2 after the second."""


def main() -> None:
    """Print what each construction adds to the answers, in nats, and the verdict on it."""
    model = cxprobe.load(*sys.argv[1:2])
    people = load_people(ROOT / PEOPLE_FILE)
    for name in surveyed_constructions(ROOT / "constructions"):
        content = load_contrasts(name, people, ROOT / "constructions")
        if any(question.right not in OF_PEOPLE for question in content.questions):
            continue
        control = content.conditions["control"]
        if not isinstance(control, OwnQuestions):
            control = OwnQuestions(contexts=control, questions=content.questions)
        wordings = dict.fromkeys(question.wording for question in content.questions)
        changed = content.model_copy(
            update={"questions": irrelevant(wordings), "conditions": content.conditions | {"control": control}}
        )
        pairs = contrast_pairs(name, changed, people, MakeContrasts(frames=FRAMES, shuffled=0), SEED)
        result = model.compare(pair_table(pairs).rename(columns={"item": "frame"}).drop(columns="order"))
        adds = result.contrasts().set_index("condition").loc[ADDS]
        nats = f"{adds['contrast']:+.3f} [{adds['low']:+.3f}, {adds['high']:+.3f}]"
        typer.echo(f"{name}: {nats} {result.verdict}")


def irrelevant(wordings: Iterable[str | None]) -> list[Question]:
    """Return irrelevant questions under the names of the wordings of a set."""
    return [
        Question(text=text, right=right, wrong=wrong, wording=wording)
        for wording, texts in zip(wordings, IRRELEVANT, strict=False)
        for text, (right, wrong) in zip(texts, (OF_PEOPLE, OF_PEOPLE[::-1]), strict=True)
    ]


if __name__ == "__main__":
    main()
