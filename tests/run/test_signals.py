import os
import signal
import sys
import time
import weakref

import pytest

from cxprobe.run.signals import Killed, end_on_signals, ending_as_killed, uninterrupted


@pytest.fixture(autouse=True)
def handlers():
    """The signals as the tests take them, to be put back."""
    signals = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM)
    before = {signum: signal.getsignal(signum) for signum in signals}
    yield
    for signum, handler in before.items():
        signal.signal(signum, handler)


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_process_with_its_number(signum):
    end_on_signals()
    with pytest.raises(Killed) as ended:
        os.kill(os.getpid(), signum)
    assert ended.value.code == 128 + signum


def test_a_signal_waits_for_the_end_of_what_must_not_be_interrupted():
    end_on_signals()
    done = []
    with pytest.raises(Killed) as ended, uninterrupted():
        os.kill(os.getpid(), signal.SIGTERM)
        done.append("all of it")
    assert done == ["all of it"]
    assert ended.value.code == 128 + signal.SIGTERM
    with uninterrupted():
        pass  # the signal has come once


def test_a_signal_waits_for_the_end_of_the_outer_of_two_blocks():
    end_on_signals()
    done = []
    with pytest.raises(Killed), uninterrupted():
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGTERM)
        done.append("the outer one")
    assert done == ["the outer one"]


def test_a_second_signal_does_not_wait():
    end_on_signals()
    with pytest.raises(Killed) as ended, uninterrupted():
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("the second signal must end the block")
    assert ended.value.code == 128 + signal.SIGINT
    with uninterrupted():
        pass


def test_a_signal_that_comes_while_python_removes_an_object_is_not_lost(monkeypatch):
    class Thing:
        pass

    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    end_on_signals()
    thing = Thing()
    kept = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM))
    with pytest.raises(Killed):
        del thing
        time.sleep(5)
    assert kept() is None


def test_an_error_that_a_signal_has_led_to_is_none():
    end_on_signals()
    with pytest.raises(Killed) as ended, ending_as_killed():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.close(-1)  # as where a signal comes between the closing of a file and the note that it is closed
    assert ended.value.code == 128 + signal.SIGTERM
    with pytest.raises(ValueError, match="another"), ending_as_killed():
        raise ValueError("another")
