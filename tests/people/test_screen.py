import io

from labelling_desk import desk, mined, session
from rich.console import Console

from cxprobe.people.labels import Label
from cxprobe.people.screen import show_card, show_definition
from cxprobe.people.sessions import Reply, answer, progress_of, view_of


def on(console: Console, start, at=None) -> str:
    view = view_of(Reply(start, ""), at or desk())
    show_definition(view, console)
    show_card(view, console)
    return console.file.getvalue()


def lines(start, at=None) -> str:
    return on(Console(file=io.StringIO()), start, at)


def test_lines_have_definition_progress_hits_surroundings_and_source():
    start = answer(session(), "/mined-27-0").session
    text = lines(start)
    assert "Positive: each half is a clause" in text
    assert f"{start.position + 1} of 4   0 of 4 labelled, 4 left" in text
    assert "2 sentences of DT JJ NN NN , DT JJ NN NN ." in text
    assert "\n  1  **the red** cat runs, **the fast** dog sings.\n" in text
    assert "\n     before: It was <late>.\n     after: They slept.\n" in text
    assert "\n     https://example.org/0#0\n" in text
    assert "\x1b" not in text


def test_a_terminal_gets_styles_in_place_of_asterisks_and_wrapped_lines():
    console = Console(file=io.StringIO(), force_terminal=True, width=40, color_system="standard", _environ={})
    text = on(console, session())
    assert "\x1b[1;7mthe red\x1b[0m" in text
    assert "**" not in text


def test_the_labels_of_others_are_shown_only_to_who_decides():
    group = session().current
    theirs = [
        Label("sequence", group.tags, label, who, "2026-01-31")
        for who, label in (("Bo", "positive"), ("Cy", "negative"))
    ]
    start = session(theirs)
    assert "Bo" not in lines(start)
    disputes = {("sequence", group.tags): {"Bo": "positive", "Cy": "negative"}}
    assert "Bo: positive\nCy: negative\n" in lines(start, desk(disputes=disputes))


def test_labels_of_ones_own_are_shown():
    start = answer(answer(answer(session(), "2n").session, "p").session, "b").session
    start = answer(start, "g 1").session
    text = lines(start)
    assert "You have labelled it positive" in text
    assert "sings.**" not in text
    assert "dog sings.   (negative)" in text


def test_progress_says_how_fast_and_how_long():
    start = session()
    assert progress_of(start) == "0 of 4 labelled, 4 left"
    for seconds in (4.0, 8.0):
        start = answer(start, "p", seconds).session
    assert progress_of(start) == "2 of 4 labelled, 2 left; 6.0 s each (median of 2), about 12 s to go"
    for seconds in (3000.0, 3000.0):
        start = answer(start, "p", seconds).session
    assert progress_of(start) == "4 of 4 labelled; 1504 s each (median of 4)"
    one = answer(session(table=mined(5)), "p", 100.0).session
    assert progress_of(one).endswith("about 7 min to go")
    one = answer(session(table=mined(5)), "p", 3600.0).session
    assert progress_of(one).endswith("about 4 h 0 min to go")
