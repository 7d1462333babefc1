import pytest

from cxprobe.errors import ConstructionError
from cxprobe.people.ratings import Rating, read_ratings, write_ratings

HEADER = "\t".join(Rating._fields)


def line(**changes: str) -> str:
    known = {"kind": "pairs", "item": "i1", "frame": "f1", "rater": "r1", "answer": "A", "gold": "B"}
    return "\t".join((known | changes).values())


def written(folder, *lines: str):
    path = folder / "ratings.tsv"
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return path


def test_what_is_written_is_read(tmp_path):
    known = [Rating("pairs", "i1", "f1", "r1", "A", "B"), Rating("inference", "i1", "f 1", "é", "neutral", "neutral")]
    write_ratings(known, tmp_path / "ratings.tsv")
    assert read_ratings(tmp_path / "ratings.tsv") == sorted(known)


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ([line(kind="pair")], "line 2: kind 'pair' is unknown (allowed: pairs, inference, reasoning)"),
        ([line(answer="C")], "line 2: answer 'C' is none of pairs (allowed: A, B)"),
        ([line(kind="inference", answer="neutral")], "line 2: gold 'B' is none of inference"),
        ([line(), line(answer="B")], "line 3: r1 has judged 'i1' twice"),
        ([line(), line(rater="r2", gold="A")], "line 3: gold 'A' of 'i1' is 'B' above"),
    ],
)
def test_every_fault_is_told_with_its_line(tmp_path, lines, fault):
    with pytest.raises(ConstructionError) as told:
        read_ratings(written(tmp_path, *lines))
    assert fault in str(told.value)
