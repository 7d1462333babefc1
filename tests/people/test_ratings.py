import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxprobe.errors import ConstructionError
from cxprobe.people.ratings import ANSWERS, Rating, read_ratings, write_ratings

HEADER = "\t".join(Rating._fields)


def line(**changes: str) -> str:
    known = {"kind": "pairs", "item": "i1", "frame": "f1", "rater": "r1", "answer": "A", "gold": "B"}
    return "\t".join((known | changes).values())


def written(folder, *lines: str):
    path = folder / "ratings.tsv"
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return path


words = st.text("abcé-1 ", min_size=1, max_size=6).filter(str.strip)
ratings = st.lists(
    st.sampled_from(sorted(ANSWERS)).flatmap(
        lambda kind: st.builds(
            Rating, st.just(kind), words, words, words, st.sampled_from(ANSWERS[kind]), st.just(ANSWERS[kind][0])
        )
    ),
    unique_by=lambda one: one[:2] + one[3:4],
)


@settings(max_examples=50)
@given(ratings)
def test_what_is_written_is_read(tmp_path_factory, known):
    path = tmp_path_factory.mktemp("ratings") / "ratings.tsv"
    write_ratings(reversed(known), path)
    assert sorted(read_ratings(path)) == sorted(known)
    first = path.read_bytes()
    write_ratings(known, path)
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        ([line(kind="pair")], "line 2: kind 'pair' is unknown (allowed: pairs, inference, reasoning)"),
        ([line(answer="C")], "line 2: answer 'C' is none of pairs (allowed: A, B)"),
        ([line(kind="inference", answer="neutral")], "line 2: gold 'B' is none of inference"),
        ([line(), line(answer="B")], "line 3: r1 has judged 'i1' twice"),
        ([line(), line(rater="r2", gold="A")], "line 3: gold 'A' of 'i1' is 'B' above"),
        ([line(item="x" * 20000)], "line 2: a cell of 20000 characters"),
    ],
)
def test_every_fault_is_told_with_its_line(tmp_path, lines, fault):
    with pytest.raises(ConstructionError) as told:
        read_ratings(written(tmp_path, *lines))
    assert fault in str(told.value)
