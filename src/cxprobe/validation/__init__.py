"""People as judges: whether people give the answers that items call right, and how far they agree.

A sample of items (`draw_sample`) is dealt into forms with attention checks (`make_forms`). People answer them in a page
that works from a file (`render_page`), in a table, or in a tool of their own. Their answers are read (`read_answers`),
those who fail the checks are left out (`judge_answers`), and the ratings of the others are kept in git, in
``constructions/<name>/ratings.tsv`` (`load_ratings`). `human_agreement` is what reports show beside the models.

Nobody has judged the items of this project yet: its files of ratings have a header and nothing else, which is no rating
and not a rate of zero. Only people can change that; what a model says must never be imported.
"""

from cxprobe.validation.agreement import (
    agreement_on,
    human_agreement,
    load_ratings,
    majorities,
    mistaken_items,
    read_published_agreement,
)
from cxprobe.validation.answers import Answer, Answers, read_answers, read_items
from cxprobe.validation.dealing import deal, split_evenly
from cxprobe.validation.forms import Form, Question, form_table, items_table, make_forms
from cxprobe.validation.importing import Imported, LeftOut, judge_answers, merge_ratings, pseudonym
from cxprobe.validation.items import JudgedItem, items_of_inferences, items_of_pairs, items_of_reasonings
from cxprobe.validation.page import render_page
from cxprobe.validation.sampling import draw_sample
from cxprobe.validation.wording import WORDING_FILE, Wording, load_wording

__all__ = [
    "WORDING_FILE",
    "Answer",
    "Answers",
    "Form",
    "Imported",
    "JudgedItem",
    "LeftOut",
    "Question",
    "Wording",
    "agreement_on",
    "deal",
    "draw_sample",
    "form_table",
    "human_agreement",
    "items_of_inferences",
    "items_of_pairs",
    "items_of_reasonings",
    "items_table",
    "judge_answers",
    "load_ratings",
    "load_wording",
    "majorities",
    "make_forms",
    "merge_ratings",
    "mistaken_items",
    "pseudonym",
    "read_answers",
    "read_items",
    "read_published_agreement",
    "render_page",
    "split_evenly",
]
