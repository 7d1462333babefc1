"""A form as a page of HTML that needs nothing else: no network, no other file, and no server."""

import re
from html import escape
from importlib.resources import files

from cxprobe.people.forms import LETTERS, Form, Question
from cxprobe.people.wording import Task

_PLACE = re.compile(r"\{\{(\w+)\}\}")


def render_page(form: Form, export: str, task: Task) -> str:
    """Return the page of a form; it does not say what is right.

    Answers stay in the page, and in the browser's own storage where it has one, until "Save answers" downloads them as
    CSV with the columns export, form, number, rater, answer and saved.
    """
    values = {
        "title": escape(task.title),
        "instructions": "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in task.instructions),
        "export": escape(export),
        "form": str(form.number),
        "total": str(len(form.questions)),
        "questions": "\n".join(
            _fieldset(one, number, len(form.questions)) for number, one in enumerate(form.questions, start=1)
        ),
    }
    template = files("cxprobe.people").joinpath("form.html").read_text(encoding="utf-8")
    return _PLACE.sub(lambda place: values[place[1]], template)


def _fieldset(question: Question, number: int, total: int) -> str:
    text = f'<span class="text">{escape(question.text)}</span> ' if question.text else ""
    options = "\n".join(
        f'<label for="q{number}-{letter}">'
        f'<input type="radio" id="q{number}-{letter}" name="q{number}" value="{letter}">'
        f"<span><b>{letter}</b> {escape(option)}</span></label>"
        for letter, option in zip(LETTERS, question.options, strict=False)
    )
    return (
        f'<fieldset id="q{number}" tabindex="-1" aria-describedby="missing-{number}">\n'
        f"<legend><small>Question {number} of {total}</small> "
        f"{text}<strong>{escape(question.question)}</strong></legend>\n"
        f'{options}\n<p class="missing" id="missing-{number}" hidden>Please choose an answer.</p>\n</fieldset>'
    )
