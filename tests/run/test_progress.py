import os
import signal
from contextlib import suppress

import pytest

from cxprobe.run import progress as module
from cxprobe.run.progress import progress
from cxprobe.run.signals import Killed, end_on_signals


@pytest.fixture
def lines(monkeypatch, capsys):
    """Return the function that says what a log file holds after (seconds, units) steps of work."""
    now = [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])

    def log(steps, total=61_000, known=0) -> list[str]:
        with progress(total, "texts", "score_pairs mini-mlm") as shown:
            shown.update(known, known=True)
            for seconds, units in steps:
                now[0] += seconds
                shown.update(units)
        return capsys.readouterr().err.splitlines()

    return log


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
        ((30, 3_000), {"known": 52_000}, "55,000 of 61,000 texts, 100/s, 1 min left"),
        ((30, 300), {"total": None}, "300 texts, 10/s"),
    ],
)
def test_a_log_file_gets_a_line_with_rate_and_time_left(lines, step, more, said):
    assert lines([step], **more) == [f"score_pairs mini-mlm: {said}"]


@pytest.mark.parametrize(
    ("kept", "said"),
    [("4 scores", "4 scores; run the same command again to go on from there"), ("", "nothing was kept")],
)
def test_interrupted_work_says_what_is_kept_and_how_to_go_on(capsys, kept, said):
    with pytest.raises(KeyboardInterrupt), progress(10, "texts", "score_pairs", kept=kept) as shown:
        shown.update(4)
        raise KeyboardInterrupt
    assert capsys.readouterr().err.splitlines()[-1] == f"score_pairs: stopped after 4 of 10 texts; {said}"


def test_work_whose_signal_was_lost_ends_with_the_next_unit():
    before = signal.getsignal(signal.SIGTERM)
    end_on_signals(signal.SIGTERM)
    with pytest.raises(Killed), progress(10, "texts", "score_pairs") as shown:
        with suppress(BaseException):
            os.kill(os.getpid(), signal.SIGTERM)
        shown.update(1)
    end_on_signals(signal.SIGTERM)  # forgets the signal
    signal.signal(signal.SIGTERM, before)
