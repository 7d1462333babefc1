import pytest

from cxprobe.pairs.english import capitalise, wrong_articles


def test_every_sentence_gets_a_capital():
    assert capitalise("the cook sang. he sang to Name B! did she? yes.") == (
        "The cook sang. He sang to Name B! Did she? Yes."
    )


@pytest.mark.parametrize(
    "text",
    """a cake, an omelette, an hour, a university, a one-way street, an honest man, a uniform, an umbrella,
    an unusual day, a user, a ewe, an heiress, a hotel, an idea, a useful tool, an uninvited guest, an undertaker,
    Name A is good, a European city, an unimportant point, a utensil, a unicorn, an urn""".replace("\n    ", " ").split(
        ", "
    ),
)
def test_right_articles_pass(text):
    assert wrong_articles(text) == []


@pytest.mark.parametrize(
    "text", ["an cake", "a omelette", "a hour", "an university", "An user", "a umbrella", "an one", "A egg"]
)
def test_wrong_articles_are_found(text):
    assert wrong_articles(f"{text} came.") == wrong_articles(f"So. {text} came.") == [text]
