import os
import signal
from contextlib import suppress

import pytest

from cxprobe.run.progress import progress
from cxprobe.run.signals import Killed, end_on_signals


def test_long_work_says_how_far_it_is_and_what_was_known_counts_as_done_and_not_as_fast(monkeypatch, capsys):
    now = [1000.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    with progress(61_000, "texts", "measure_pairs mini-mlm") as shown:
        shown.update(52_000, known=True)
        now[0] += 29
        shown.update(2_000)
        assert capsys.readouterr().err == ""
        now[0] += 1
        shown.update(1_000)
    said = capsys.readouterr().err
    assert "measure_pairs mini-mlm:  90%" in said
    assert "55000/61000 [00:30<01:00, 100.00 texts/s]" in said


@pytest.mark.parametrize(
    ("kept", "said"),
    [("4 scores", "4 scores; run the same command again to go on from there"), ("", "nothing was kept")],
)
def test_interrupted_work_says_what_is_kept_and_how_to_go_on(capsys, kept, said):
    with pytest.raises(KeyboardInterrupt), progress(10, "texts", "measure_pairs", kept=kept) as shown:
        shown.update(4)
        raise KeyboardInterrupt
    assert capsys.readouterr().err.splitlines()[-1] == f"measure_pairs: stopped after 4 of 10 texts; {said}"


def test_work_whose_signal_was_lost_ends_with_the_next_unit():
    before = signal.getsignal(signal.SIGTERM)
    end_on_signals(signal.SIGTERM)
    with pytest.raises(Killed), progress(10, "texts", "measure_pairs") as shown:
        with suppress(BaseException):
            os.kill(os.getpid(), signal.SIGTERM)
        shown.update(1)
    end_on_signals(signal.SIGTERM)  # forgets the signal
    signal.signal(signal.SIGTERM, before)
