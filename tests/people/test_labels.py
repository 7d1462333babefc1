import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxprobe.errors import ConstructionError
from cxprobe.people.labels import JUDGEMENTS, KINDS, PersonLabel, read_labels, with_label, write_labels

# Of people, whatever they are written with: what `cxprobe label` takes.
NAMES = st.sampled_from(["Jose\u0301", "अनिल"]) | st.text(max_size=5).filter(
    lambda name: name.strip() and name.isprintable()
)
LABELS = st.builds(
    PersonLabel,
    st.sampled_from(KINDS),
    st.sampled_from(["DT JJR NN", "DT `` ''", "mined-1"]),
    st.sampled_from(JUDGEMENTS),
    st.sampled_from(["Ann", "Bo"]) | NAMES,
    st.dates().map(lambda day: f"{day.year:04d}-{day.month:02d}-{day.day:02d}"),
)
LINE = "sequence\tDT NN\tpositive\tAnn\t2026-01-31"
HEAD = "kind\ttarget\tlabel\twho\twhen"


@given(st.lists(LABELS))
def test_labels_are_read_as_they_were_written_whatever_their_order(tmp_path_factory, labels):
    kept: list[PersonLabel] = []
    for label in labels:
        kept = with_label(kept, label)
    path = tmp_path_factory.mktemp("labels") / "labels.tsv"
    write_labels(kept, path)
    assert read_labels(path) == sorted(kept)
    before = path.read_bytes()
    write_labels(reversed(kept), path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["sequence\ttags\tlabel"], "line 1: expected the columns kind target label who when"),
        ([HEAD, "<<<<<<< HEAD", LINE], "line 2: a conflict that git left here"),
        ([HEAD, LINE, LINE.replace("positive", "negative")], "line 3: Ann has labelled 'DT NN' twice"),
        ([HEAD, LINE.replace("positive", "maybe")], "line 2: label 'maybe' is unknown (allowed: positive, negative"),
        ([HEAD, LINE.replace("sequence", "word")], "line 2: kind 'word' is unknown"),
        ([HEAD, LINE.replace("2026-01-31", "2026-02-31")], "line 2: when '2026-02-31' is not a day"),
        ([HEAD, LINE.replace("2026-01-31", "2026-1-31")], "line 2: when '2026-1-31' is not a day"),
        ([HEAD, LINE.replace("2026-01-31", "2026-W05-6")], "line 2: when '2026-W05-6' is not a day"),
        ([HEAD, "sequence\tDT NN\tpositive"], "line 2: expected 5 columns"),
        ([HEAD, LINE.replace("Ann", " ")], "line 2: expected 5 columns"),
        ([HEAD, "", LINE], "line 2: expected 5 columns"),
        ([HEAD, LINE.replace("DT NN", "x" * 200_000)], "line 2: a cell of 200000 characters; at most 10000"),
        ([HEAD, LINE.replace("DT", "\0")], "is UTF-16, or no text"),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path, lines, message):
    (tmp_path / "labels.tsv").write_text("\n".join(lines) + "\n")
    with pytest.raises(ConstructionError) as raised:
        read_labels(tmp_path / "labels.tsv")
    assert message in str(raised.value)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_byte_order_mark_and_the_line_ends_of_windows_change_nothing(tmp_path, ends, mark):
    path = tmp_path / "labels.tsv"
    path.write_bytes((mark + ends.join([HEAD, LINE, ""])).encode())
    assert read_labels(path) == [PersonLabel("sequence", "DT NN", "positive", "Ann", "2026-01-31")]
