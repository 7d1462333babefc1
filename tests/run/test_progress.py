import io
import os
import signal
from contextlib import suppress

import pytest

from cxprobe.run.progress import progress
from cxprobe.run.signals import Killed, end_on_signals


class Clock:
    """A clock that only goes on when it is told to."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def lines(steps, total=61_000, **more) -> list[str]:
    """Return what a log file holds after (seconds, units) steps of work."""
    clock, log = Clock(), io.StringIO()
    with progress(total, "texts", "score_pairs mini-mlm", clock=clock, stream=log, **more) as shown:
        for seconds, units in steps:
            clock.seconds += seconds
            shown.update(units)
    return log.getvalue().splitlines()


@pytest.mark.parametrize(
    ("step", "more", "said"),
    [
        ((30, 12_000), {}, "12,000 of 61,000 texts, 400/s, 2 min left"),
        ((40, 60_000), {}, "60,000 of 61,000 texts, 1,500/s, 1 s left"),
        ((100, 6_100), {}, "6,100 of 61,000 texts, 61/s, 15 min left"),
        ((1000, 500), {}, "500 of 61,000 texts, 0.5/s, 33 h 37 min left"),
        ((30, 61_000), {}, "61,000 of 61,000 texts, 2,033/s, 0 s left"),
        ((30, 0), {}, "0 of 61,000 texts"),
        # What an earlier run has finished counts as done and not as fast.
        ((30, 3_000), {"initial": 52_000}, "55,000 of 61,000 texts, 100/s, 1 min left"),
        ((30, 300), {"total": None}, "300 texts, 10/s"),
    ],
)
def test_a_log_file_gets_a_line_with_rate_and_time_left(step, more, said):
    assert lines([step], **more) == [f"score_pairs mini-mlm: {said}"]


@pytest.mark.parametrize(("seconds", "expected"), [(29, 0), (30, 1), (100, 3)])
def test_a_log_file_gets_at_most_one_line_every_half_minute(seconds, expected):
    assert len(lines([(1, 100)] * seconds)) == expected


@pytest.mark.parametrize(
    ("kept", "said"),
    [("4 scores", "4 scores; run the same command again to go on from there"), ("", "nothing was kept")],
)
def test_interrupted_work_says_what_is_kept_and_how_to_go_on(kept, said):
    log = io.StringIO()
    with pytest.raises(KeyboardInterrupt), progress(10, "texts", "score_pairs", kept=kept, stream=log) as shown:
        shown.update(4)
        raise KeyboardInterrupt
    assert log.getvalue().splitlines()[-1] == f"score_pairs: stopped after 4 of 10 texts; {said}"


def test_the_standard_error_is_where_progress_goes(capsys):
    clock = Clock()
    with progress(10, "texts", "score_pairs", clock=clock) as shown:
        clock.seconds += 60
        shown.update(5)
    assert capsys.readouterr().err.startswith("score_pairs: 5 of 10 texts")


def test_work_whose_signal_was_lost_ends_with_the_next_unit():
    before = signal.getsignal(signal.SIGTERM)
    end_on_signals(signal.SIGTERM)
    with pytest.raises(Killed), progress(10, "texts", "score_pairs") as shown:
        with suppress(BaseException):
            os.kill(os.getpid(), signal.SIGTERM)
        shown.update(1)
    end_on_signals(signal.SIGTERM)  # forgets the signal
    signal.signal(signal.SIGTERM, before)
