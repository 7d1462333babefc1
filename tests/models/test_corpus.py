import gzip
import json

import pandas as pd

from pretraining.corpus import paragraphs, write_corpus
from pretraining.settings import Corpus

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


def settings(held_out: str, folder=None, repositories="", host="") -> Corpus:
    return Corpus(folder=folder and str(folder), repositories=str(repositories), host=str(host), held_out=[held_out])


def records(folder, part: str) -> dict[str, str]:
    table = pd.read_json(folder / f"{part}.json.gz", lines=True)
    return dict(zip(table["url"], table["text"], strict=True))


def write_shard(path, *records: dict) -> None:
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def test_a_folder_of_text_is_put_in_reading_order_and_held_out_by_book(tmp_path):
    urls = ["a/book#c-1/10", "a/other#c-1/0", "a/book#c-1/9"]
    for number, url in enumerate(urls):
        write_shard(tmp_path / "text" / f"{number}.json.gz", {"text": f"“Text” {number}.", "url": url})
    asked = settings("a/other#", folder=tmp_path / "text")
    write_corpus(asked, tmp_path / "corpus")
    train = records(tmp_path / "corpus", "train")
    assert train == {"a/book#c-1/9": "“Text” 2.", "a/book#c-1/10": "“Text” 0."}
    assert list(train) == ["a/book#c-1/9", "a/book#c-1/10"]
    first = (tmp_path / "corpus" / "train.json.gz").read_bytes()
    write_corpus(asked, tmp_path / "corpus")
    assert (tmp_path / "corpus" / "train.json.gz").read_bytes() == first


def test_the_running_text_is_kept_and_nothing_else():
    assert paragraphs(CHAPTER) == [
        "The first paragraph, with a note. It goes on.",
        "One line and another",
        "“The last & least.”",
    ]
