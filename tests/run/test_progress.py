import io

import pytest

from cxprobe.run.progress import progress


class Clock:
    """A clock that only goes on when it is told to."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(steps, total=61_000, **more) -> list[str]:
    """Return what a log file holds after (seconds, units) steps of work."""
    clock, log = Clock(), io.StringIO()
    with progress(total, "texts", "score_pairs mini-mlm", clock=clock, stream=log, **more) as shown:
        for seconds, units in steps:
            clock.seconds += seconds
            shown.update(units)
    return log.getvalue().splitlines()


def test_a_log_file_gets_a_line_with_rate_and_time_left():
    assert lines([(30, 12_000)]) == ["score_pairs mini-mlm: 12,000 of 61,000 texts, 400/s, 2 min left"]


def test_a_log_file_gets_at_most_one_line_every_half_minute():
    assert len(lines([(1, 100)] * 29)) == 0
    assert len(lines([(1, 100)] * 30)) == 1
    assert len(lines([(1, 100)] * 100)) == 3


@pytest.mark.parametrize(
    ("seconds", "units", "said"),
    [
        (40, 60_000, "1,500/s, 1 s left"),
        (100, 6_100, "61/s, 15 min left"),
        (1000, 500, "0.5/s, 33 h 37 min left"),
        (30, 61_000, "2,033/s, 0 s left"),
    ],
)
def test_the_time_left_is_said_in_the_unit_that_fits(seconds, units, said):
    (line,) = lines([(seconds, units)])
    assert line.endswith(said)


def test_what_an_earlier_run_has_finished_counts_as_done_and_not_as_fast():
    assert lines([(30, 3_000)], initial=52_000) == ["score_pairs mini-mlm: 55,000 of 61,000 texts, 100/s, 1 min left"]


def test_a_total_may_be_unknown():
    assert lines([(30, 300)], total=None) == ["score_pairs mini-mlm: 300 texts, 10/s"]


def test_no_unit_in_half_a_minute_is_a_line_without_a_rate():
    assert lines([(30, 0)]) == ["score_pairs mini-mlm: 0 of 61,000 texts"]


def test_a_terminal_gets_a_bar_with_rate_and_time_left():
    terminal = Terminal()
    with progress(10, "texts", "score_pairs mini-mlm", stream=terminal) as shown:
        shown.update(4)
        shown.update(6)
    bar = terminal.getvalue()
    assert "score_pairs mini-mlm: 100%" in bar
    assert "10/10" in bar
    assert "texts/s" in bar


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_interrupted_work_says_what_is_kept_and_how_to_go_on(stream):
    log = stream()
    with pytest.raises(KeyboardInterrupt), progress(10, "texts", "score_pairs", kept="4 scores", stream=log) as shown:
        shown.update(4)
        raise KeyboardInterrupt
    assert log.getvalue().splitlines()[-1] == (
        "score_pairs: stopped after 4 of 10 texts; 4 scores; run the same command again to go on from there"
    )


def test_interrupted_work_that_keeps_nothing_says_so():
    log = io.StringIO()
    with pytest.raises(ValueError, match="no such text"), progress(10, "texts", "score_pairs", stream=log):
        raise ValueError("no such text")
    assert log.getvalue() == "score_pairs: stopped after 0 of 10 texts; nothing was kept\n"


def test_the_standard_error_is_where_progress_goes(capsys):
    clock = Clock()
    with progress(10, "texts", "score_pairs", clock=clock) as shown:
        clock.seconds += 60
        shown.update(5)
    assert capsys.readouterr().err.startswith("score_pairs: 5 of 10 texts")
