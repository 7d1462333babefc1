import io

from labelling_desk import desk, session
from rich.console import Console

from cxprobe.people.labels import PersonLabel
from cxprobe.people.screen import show_definition, show_group
from cxprobe.people.sessions import apply_answer, progress_of


def lines(start, at=None, console=None) -> str:
    at, console = at or desk(), console or Console(file=io.StringIO())
    show_definition(at.construction, console)
    show_group(start, at, console)
    return console.file.getvalue()


def test_lines_have_definition_progress_hits_and_source():
    start = session()
    number = next(number for number, group in enumerate(start.groups, 1) if group.sentences[0].id == "mined-27-0")
    start = apply_answer(start, f"g {number}")
    text = lines(start)
    assert "Positive: each half is a clause" in text
    assert f"{start.position + 1} of 4   0 of 4 labelled, 4 left" in text
    assert "2 sentences of DT JJ NN NN , DT JJ NN NN ." in text
    assert "\n  1  **the red** cat runs, **the fast** dog sings.\n" in text
    assert "\n     https://example.org/0#0\n" in text
    assert "\x1b" not in text


def test_a_terminal_gets_styles_in_place_of_asterisks():
    console = Console(file=io.StringIO(), force_terminal=True, width=40, color_system="standard", _environ={})
    text = lines(session(), console=console)
    assert "\x1b[1;7mthe red\x1b[0m" in text
    assert "**" not in text


def test_the_labels_of_others_are_shown_only_to_who_decides():
    target = ("sequence", session().current.tags)
    said = {"Bo": "positive", "Cy": "negative"}
    start = session([PersonLabel(*target, label, who, "2026-01-31") for who, label in said.items()])
    assert "Bo" not in lines(start)
    assert "Bo: positive\nCy: negative\n" in lines(start, desk(disputes={target: said}))


def test_labels_that_the_person_gave_are_shown():
    start = session()
    for answer in ("2n", "p", "g 1"):
        start = apply_answer(start, answer)
    text = lines(start)
    assert "You have labelled it positive" in text
    assert "sings.**" not in text
    assert "dog sings.   (negative)" in text


def progress(start, needed=0, tested=0) -> str:
    return progress_of(start, desk(needed=needed, tested=lambda _: tested))


def test_progress_says_how_many_labels_a_probe_still_needs():
    start = session()
    assert progress(start, 2) == progress(start)  # nothing is known yet
    start = apply_answer(start, "p")
    assert progress(start, 2).endswith("; 0 negative so far, a probe with 2 of each label needs some")
    start = apply_answer(start, "n")
    size = len(start.groups[1].sentences)
    labels = -(-(10 - size) * 2 // size)  # two labels gave so many
    said = f"; {size} negative so far, a probe with 10 of each label needs about {labels} labels more"
    assert progress(start, 10).endswith(said)


def test_progress_says_how_many_sentences_would_test_a_probe_and_how_many_labels_a_narrow_interval_needs():
    start = apply_answer(apply_answer(session(), "p"), "n")
    said = "10 sentences would test a probe; for an interval of 15 points to each side, some 40, it needs about 6"
    assert f"; 2 negative so far, {said} labels more" in progress(start, 1, 10)  # two labels gave 10, six give 30
    assert progress(start, 1, 40).endswith("; 2 negative so far, 40 sentences would test a probe")
    assert "not yet in both of its parts" in progress(start, 1, 0)


def test_a_probe_is_counted_by_the_labels_of_the_person_alone():
    target = ("sequence", session().groups[-1].target)
    start = session([PersonLabel(*target, "positive", "Bo", "2026-01-31")])
    counted = []
    for answer in "pn":
        start = apply_answer(start, answer)
    progress_of(start, desk(needed=1, tested=lambda labels: counted.append({one.who for one in labels}) or 4))
    assert counted == [{"Ann"}]
