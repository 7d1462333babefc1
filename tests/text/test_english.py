import pytest

from cxprobe.text.english import article_of, capitalise_sentences, faults_of_text, wrong_articles


def test_every_sentence_gets_a_capital():
    assert capitalise_sentences("the cook sang. he sang to Name B! did she? yes.") == (
        "The cook sang. He sang to Name B! Did she? Yes."
    )


@pytest.mark.parametrize("text", ["", "Wait... he sang.", "The cat . a dog", "At 3.5 the cat came", "The cat: a dog"])
def test_what_ends_no_sentence_is_followed_by_no_capital(text):
    assert capitalise_sentences(text) == text


@pytest.mark.parametrize(
    "text", ["an cake", "a omelette", "a hour", "an university", "An user", "a umbrella", "an one", "A egg"]
)
def test_wrong_articles_are_found(text):
    assert wrong_articles(f"{text} came.") == wrong_articles(f"So. {text} came.") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Anna is [MASK].",
        "The cook {left}.",
        "The  cook left.",
        " The cook left.",
        "the cook left.",
        "The cook left",
        "The cook took an pie.",
        "The cook took the a pie.",
        "",
    ],
)
def test_each_fault_of_a_finished_text_is_found(text):
    assert len(list(faults_of_text(text))) == 1


@pytest.mark.parametrize(
    "text", ["Who left?", "“The cook left.”", "Name A a pie? No!", "3 cooks left.", "N/A cannot N/A the N/A."]
)
def test_a_finished_text_without_a_fault_passes(text):
    assert list(faults_of_text(text)) == []


# As the CMU Pronouncing Dictionary has their first sounds.
A = """ewe ewer uterus ukulele one once one-way ones oneself unit unite united union unique unity unicorn uniform
unilateral universe university unidirectional unimodal unanimous unanimity unary uranium urine urinary urologist use
used useful useless user usage usual usually usurp usury utensil utility utopia ubiquitous uvula UV-light Ugandan
Ukrainian Uruguayan UFO European eunuch eulogy euphemism euro hotel house honey heroine hospital herd unionised
U-turn year yellow want"""
AN = """uninformed uninvited unimportant unimaginable unimpressed unimmunised unidentified unideal uninterested
uninspired unironic unissued unignorable unanimated unanswered unable unused umbrella usher ugly ulcer ultimate umpire
uncle under undertaker unequal unusual upper urban urge urn us utter hour hourly honest honesty honour honorary heir
heiress heirloom onerous onset onion only ongoing egg elephant oak oyster apple ear X-ray F-word s-shape"""


@pytest.mark.parametrize(("article", "words"), [("a", A), ("an", AN)])
def test_the_sound_and_not_the_letter_decides_on_the_article(article, words):
    wrong = [word for word in words.split() if article_of(word) != article]
    assert wrong == []
    assert [word for word in words.split() if article_of(word.capitalize()) != article] == []
