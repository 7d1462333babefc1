"""Every damaged file is accepted, or refused with a message that names it: no traceback, and no hanging.

A mutation that was found once is made again by its seed; CXPROBE_MUTATION_SEED gives seeds that nobody has tried, and
CXPROBE_MUTATIONS more of them.
"""

import os
import signal
import time
from pathlib import Path

import pytest
from formats import FORMATS, Format, make_sound_project
from mutations import Mutation, mutate

from cxprobe.errors import CxprobeError

SEED = os.environ.get("CXPROBE_MUTATION_SEED", "1")
NUMBER = int(os.environ.get("CXPROBE_MUTATIONS", "20"))  # a format
LIMIT = 20  # seconds


@pytest.fixture
def project(tmp_path: Path) -> Path:
    make_sound_project(tmp_path)
    return tmp_path


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {LIMIT} seconds")


def outcome(read: Format, project: Path, mutation: Mutation, sound: object) -> str:
    """Write a damaged file and read it; return "accepted" or "refused", or else what is wrong."""
    path = project / read.path
    path.write_bytes(mutation.content)
    previous = signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(LIMIT)
    began = time.monotonic()
    try:
        content = read.read(project)
    except CxprobeError as fault:
        if mutation.is_harmless:
            return f"refused, though it is harmless: {fault}"
        return "refused" if path.name in str(fault) else f"refused without the name of the file: {str(fault)[:300]}"
    except BaseException as fault:  # whatever else it is, it is what this test is about
        return f"{type(fault).__name__}: {str(fault)[:300]}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
    if time.monotonic() - began > LIMIT:
        return f"took {time.monotonic() - began:.0f} seconds"
    return "read as something else, though it is harmless" if mutation.is_harmless and content != sound else "accepted"


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_is_accepted_or_refused_by_name(project, name):
    read = FORMATS[name]
    plain = (project / read.path.removesuffix(".gz")).read_bytes()
    sound = read.read(project)
    outcomes = []
    for count in range(NUMBER):
        seed = f"{SEED}-{name}-{count}"
        mutation = mutate(plain, read.kind, seed, compressed=read.path.endswith(".gz"))
        outcomes.append((outcome(read, project, mutation, sound), f"{seed} ({mutation.name})"))
    wrong = [f"{seed}: {what}" for what, seed in outcomes if what not in ("accepted", "refused")]
    assert not wrong, f"{len(wrong)} of {NUMBER} mutations of {name}:\n" + "\n".join(wrong[:40])
    assert "refused" in dict(outcomes), "no mutation was refused, so nothing was attacked"
