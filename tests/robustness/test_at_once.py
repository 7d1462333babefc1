"""Several processes at once that run one item."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from stage_process import Ended, run_process
from toy_stages import TOY, write_toy_project


def test_of_eight_runs_of_one_item_at_once_one_works_and_the_others_are_told(tmp_path):
    ended = run_at_once(tmp_path / "eight", 8)
    codes = Counter(one.code for one in ended)
    assert codes[0] >= 1
    assert codes[0] + codes[2] == 8
    assert all("another process works on tiny-1: " in one.said for one in ended if one.code == 2)
    run_at_once(tmp_path / "alone", 1)
    assert contents(tmp_path / "eight") == contents(tmp_path / "alone")


def run_at_once(folder: Path, number: int) -> list[Ended]:
    folder.mkdir()
    write_toy_project(folder)
    with ThreadPoolExecutor(number) as threads:
        run = partial(run_process, folder, TOY, TOY_STAGE="measure_pairs")
        return [*threads.map(run, ["tiny-1"] * number)]


def contents(folder: Path) -> dict[Path, bytes]:
    files = [path for output in ("data/measure_pairs", "results") for path in (folder / output).rglob("*")]
    return {path.relative_to(folder): path.read_bytes() for path in files if path.is_file()}
