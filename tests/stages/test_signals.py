import os
import signal
import sys
import time
import weakref

import pytest

from cxprobe.stages.signals import Killed, end_on_signals, uninterrupted


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
