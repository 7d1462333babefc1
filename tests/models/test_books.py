import pytest

from cxprobe.errors import DataError
from cxprobe_pretraining.books import paragraphs, read_book

OPF = """<?xml version="1.0" encoding="utf-8"?>
<package><manifest>
<item href="css/core.css" id="core.css" media-type="text/css"/>
<item href="text/chapter-2.xhtml" id="chapter-2.xhtml" media-type="application/xhtml+xml"/>
<item href="text/chapter-1.xhtml" id="chapter-1.xhtml" media-type="application/xhtml+xml"/>
</manifest><spine><itemref idref="chapter-1.xhtml"/><itemref idref="chapter-2.xhtml"/></spine></package>"""
CHAPTER = """<?xml version="1.0" encoding="utf-8"?>
<html xmlns:epub="http://www.idpf.org/2007/ops"><head><title>I</title></head><body epub:type="bodymatter">
<section id="chapter-1" epub:type="chapter">
<header><h2>Chapter</h2><p>A subtitle.</p></header>
<blockquote epub:type="epigraph"><p>Somebody else's words.</p></blockquote>
<p>The first <i>paragraph</i>,\u200a with a note.<a href="e" epub:type="noteref">1</a> It goes
on.</p>
<hr/>
<blockquote><p><span>One line</span><br/><span>and another</span></p></blockquote>
<figure><img src="a"/><figcaption><p>Fig. 1</p></figcaption></figure>
<p>“The last &amp; least.”</p>
</section></body></html>"""


def write_book(folder, chapter: str = CHAPTER) -> None:
    (folder / "text").mkdir(parents=True)
    (folder / "content.opf").write_text(OPF)
    for number in (1, 2):
        (folder / "text" / f"chapter-{number}.xhtml").write_text(chapter)


def test_the_running_text_is_kept_and_nothing_else():
    assert paragraphs(CHAPTER) == [
        "The first paragraph, with a note. It goes on.",
        "One line and another",
        "“The last & least.”",
    ]


def test_chapters_come_in_the_order_of_the_spine(tmp_path):
    write_book(tmp_path / "epub")
    records = dict(read_book(tmp_path / "epub"))
    assert list(records) == ["chapter-1/0", "chapter-2/0"]
    assert records["chapter-1/0"].splitlines() == paragraphs(CHAPTER)


def test_long_chapters_are_cut_between_paragraphs(tmp_path):
    write_book(tmp_path / "epub", "".join(f"<p>{'word ' * 250}{n}.</p>" for n in range(5)))
    records = dict(read_book(tmp_path / "epub"))
    assert [text.count("\n") + 1 for text in records.values()] == [2, 2, 1] * 2
    assert list(records)[:3] == ["chapter-1/0", "chapter-1/1", "chapter-1/2"]


def test_a_folder_that_is_no_book_is_named(tmp_path):
    with pytest.raises(DataError, match=r"content\.opf is not there"):
        list(read_book(tmp_path))
