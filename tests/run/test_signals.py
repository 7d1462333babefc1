"""Signals that end a process, at once, after a block, or where the exception is lost; and how far work is."""

import os
import signal
import weakref
from contextlib import suppress

import pytest

from cxprobe.run.progress import Killed, end_if_signalled, end_on_signals, ending_as_killed, progress, uninterrupted

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@pytest.fixture(autouse=True)
def handlers():
    """The signals end the process, and afterwards do what they did before."""
    before = {signum: signal.getsignal(signum) for signum in SIGNALS}
    end_on_signals()
    yield
    end_on_signals()  # forgets the signal that has come
    for signum, handler in before.items():
        signal.signal(signum, handler)


@pytest.mark.parametrize("signum", SIGNALS)
def test_a_signal_ends_the_process_with_its_number(signum):
    with pytest.raises(Killed) as ended:
        os.kill(os.getpid(), signum)
    assert ended.value.code == 128 + signum


def test_a_signal_waits_for_the_end_of_what_must_not_be_interrupted():
    done = []
    with pytest.raises(Killed) as ended, uninterrupted():
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGTERM)
            done.append("the inner block")
        end_if_signalled()
        done.append("the outer block")
    assert done == ["the inner block", "the outer block"]
    assert ended.value.code == 128 + signal.SIGTERM


def test_a_second_signal_does_not_wait():
    with pytest.raises(Killed) as ended, uninterrupted():
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("the second signal must end the block")
    assert ended.value.code == 128 + signal.SIGINT


def lose_in_a_callback() -> None:
    class Thing:
        pass

    thing = Thing()
    kept = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM))
    del thing
    assert kept() is None


def lose_in_a_library() -> None:
    with suppress(BaseException):
        os.kill(os.getpid(), signal.SIGTERM)


def turn_into_another_error() -> None:
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        os.close(-1)  # as where a signal comes between the closing of a file and the note that it is closed


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("lose", [lose_in_a_callback, lose_in_a_library, turn_into_another_error])
def test_a_signal_whose_exception_is_lost_ends_the_work_and_lets_nothing_more_be_written(lose):
    with pytest.raises(Killed) as ended, ending_as_killed():
        lose()
    assert ended.value.code == 128 + signal.SIGTERM
    with pytest.raises(Killed), uninterrupted():
        pytest.fail("the block must not begin")


def test_without_a_signal_an_error_stays_what_it_is():
    with pytest.raises(ValueError, match="another"), ending_as_killed():
        raise ValueError("another")


def test_work_whose_signal_was_lost_ends_with_the_next_unit():
    with pytest.raises(Killed), progress(10, "texts", "measure_pairs") as shown:
        lose_in_a_library()
        shown.update(1)


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
