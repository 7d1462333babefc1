import pytest

from conftest import PAIRS, PEOPLE
from cxprobe.constructions.people import load_people
from cxprobe.errors import DataError
from cxprobe.lm.texts import Pair
from cxprobe.pairs.frames import load_pairs
from cxprobe.pairs.make import pair_table, pairs_of, render_pairs


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.yaml"
    path.write_text(PEOPLE)
    return load_people(path)


def load_text(folder, people, text=PAIRS):
    (folder / "x").mkdir()
    (folder / "x" / "pairs.yaml").write_text(text)
    return load_pairs("x", people, folder)


def test_the_members_of_an_item_are_worded_as_the_templates_say(tmp_path, people):
    rendered = render_pairs("x", load_text(tmp_path, people), people, 1, seed=0)
    members = {
        (pair.groups["variant"], pair.groups["order"]): pair
        for pair in rendered.pairs
        if pair.groups["noun_type"] == "name"
    }
    first, second = members["A", "original"].context.split()[0], members["A", "switched"].context.split()[0]
    verb, gift = members["A", "original"].context.removesuffix(".").removeprefix(f"{first} ").split(f" {second} ")
    assert members["A", "original"].context == f"{first} {verb} {second} {gift}."
    assert members["A", "original"].good == f" The one who gave her something is {first}."
    assert members["A", "original"].bad == f" The one who gave her something is {second}."
    assert members["A", "switched"].context == f"{second} {verb} {first} {gift}."
    assert members["A", "switched"].good == members["A", "original"].bad
    assert members["A", "switched"].bad == members["A", "original"].good
    assert members["B", "original"].good == f" She got {gift} because {first} gave it to {second}."
    assert members["B", "original"].bad == f" She got {gift} because {second} gave it to {first}."
    assert len({pair.item for pair in members.values()}) == 1


def test_the_same_pairs_keep_their_ids_and_a_longer_draw_says_what_is_missing(tmp_path, people):
    content = load_text(tmp_path, people)
    first, again = (render_pairs("x", content, people, 9, seed=1) for _ in range(2))
    assert first == again
    assert first.shortfalls == {}
    assert len({pair.id for pair in first.pairs}) == len(first.pairs) == 2 * 9 * 4
    assert render_pairs("x", content, people, 10, seed=1).shortfalls == {"job": 9}


def test_pairs_without_people_have_no_noun_type_and_no_context(tmp_path, people):
    content = load_text(
        tmp_path,
        people,
        """\
tests: form
people: []
switched: false
slots:
  one: {gloss: a noun, content: false}
  many: {gloss: its plural, content: false}
variants:
  this:
    context: null
    continuation: "this {noun} fell."
    contrast:
      noun: {good: "{one}", bad: "{many}"}
frames: [{one: cup, many: cups}, {one: box, many: boxes}]
fillers: {}
""",
    )
    rendered = render_pairs("x", content, people, 2, seed=0)
    assert {(pair.context, pair.good, pair.bad) for pair in rendered.pairs} == {
        ("", "This cup fell.", "This cups fell."),
        ("", "This box fell.", "This boxes fell."),
    }
    assert {pair.groups["noun_type"] for pair in rendered.pairs} == {"none"}


def test_after_a_rival_the_other_member_is_right(tmp_path, people):
    rival = '  A:\n    rival: "{N1} {verb} {gift} for {N2}\'s brother."\n    origin: own\n'
    rendered = render_pairs("x", load_text(tmp_path, people, PAIRS.replace("  A:\n", rival)), people, 3, seed=0)
    asked = {(pair.item, pair.groups["order"], pair.groups["sentence"]): pair for pair in variant_of(rendered, "A")}
    assert len(asked) == 2 * 3 * 2 * 2
    for (item, order, sentence), pair in asked.items():
        other = asked[item, order, {"construction": "rival", "rival": "construction"}[sentence]]
        assert ("brother" in pair.context) == (sentence == "rival")
        assert (pair.good, pair.bad) == (other.bad, other.good)
        assert pair.groups["origin"] == "own"
        assert pair.clusters == other.clusters
    assert {pair.groups["sentence"] for pair in variant_of(rendered, "B")} == {"construction"}


def variant_of(rendered, name):
    return [pair for pair in rendered.pairs if pair.groups["variant"] == name]


def test_common_nouns_stand_in_their_typical_roles_and_exchanged(tmp_path):
    (tmp_path / "people.yaml").write_text(PEOPLE.replace("  job:", "  common-noun:"))
    people = load_people(tmp_path / "people.yaml")
    typical = [("the waiter", "the guest"), ("the nurse", "the patient")]
    roles = "typical:\n  - [the waiter, the guest]\n  - [the nurse, the patient]\nframes:\n"
    rendered = render_pairs("x", load_text(tmp_path, people, PAIRS.replace("frames:\n", roles)), people, 6, seed=0)
    nouns = [pair for pair in variant_of(rendered, "A") if pair.groups["noun_type"] == "common-noun"]
    for order, seats in (("original", typical), ("switched", [pair[::-1] for pair in typical])):
        contexts = [pair.context for pair in nouns if pair.groups["order"] == order]
        assert len(contexts) == 6
        found = [
            [context.startswith(one.capitalize()) and f" {two} " in context for one, two in seats]
            for context in contexts
        ]
        assert sorted(found) == [[False, True]] * 3 + [[True, False]] * 3
    names = {pair.clusters["noun1"] for pair in rendered.pairs if pair.groups["noun_type"] == "name"}
    assert names <= {"Ann", "Eve", "Ida", "Mia"}


def test_a_variant_that_does_not_show_what_tells_items_apart_is_refused(tmp_path, people):
    hidden = """\
  hidden:
    context: "{verb} {gift}."
    continuation: "she {was} glad."
    contrast: {was: {good: was, bad: were}}
frames:
"""
    content = load_text(tmp_path, people, PAIRS.replace("frames:\n", hidden))
    with pytest.raises(DataError, match=r"twice; two rows of its pairs\.yaml differ in nothing that the variant shows"):
        render_pairs("x", content, people, 9, seed=0)


def test_a_table_gives_its_pairs_back(tmp_path, people):
    rendered = render_pairs("x", load_text(tmp_path, people), people, 5, seed=2)
    assert pairs_of(pair_table(rendered.pairs)) == rendered.pairs


def test_pairs_of_files_with_other_columns_share_no_cluster_that_they_lack():
    one = Pair("a", "a", "", "good", "bad", {"field": "x"}, {"verb": "go"})
    other = Pair("b", "b", "", "good", "bad", {}, {"item": "b"})
    table = pair_table([one, other]).set_index("id")
    assert table.loc["b", ["field", "cluster_verb", "cluster_item"]].tolist() == ["", "b", "b"]
    assert table.loc["a", ["field", "cluster_verb", "cluster_item"]].tolist() == ["x", "go", "a"]


WORD_LISTS = """\
tests: form
people: []
switched: false
slots:
  bought: {{gloss: a thing, content: false}}
  article: {{gloss: its article, content: false}}
  other: {{gloss: another thing, content: false}}
variants:
  one:
    context: null
    continuation: "she took {{article}} {{thing}} and {{article}} {{other}}."
    contrast:
      thing: {{good: "{{bought}}", bad: "{{other}}"}}
frames: [{{bought: cake, article: some}}, {{bought: pie, article: {article}}}]
fillers:
  others: [{{other: loaf}}, {{other: {other}}}]
"""


@pytest.mark.parametrize(
    ("article", "other", "message"),
    [
        ("the", "pie", r"x.pairs\.yaml, variant one: 'She took the pie and the pie\.' is both the right and the wrong"),
        ("a", "apple", r"x.pairs\.yaml, variant one: .*: 'a apple' has the wrong article"),
    ],
)
def test_what_only_certain_rows_make_together_is_refused(tmp_path, people, article, other, message):
    content = load_text(tmp_path, people, WORD_LISTS.format(article=article, other=other))
    with pytest.raises(DataError, match=message):
        render_pairs("x", content, people, 4, seed=0)


def test_an_item_is_clustered_by_its_frame_its_wording_its_people_and_the_large_groups_it_draws_from(tmp_path, people):
    [pair, *_] = render_pairs("x", load_text(tmp_path, people), people, 1, seed=0).pairs
    assert {pair.clusters["noun1"], pair.clusters["noun2"]} == {pair.context.split()[0], pair.context.split()[2]}
    verbs = ", ".join(f"{{other: v{number}}}" for number in range(10))
    text = WORD_LISTS.format(article="the", other="tart").replace("{other: loaf}, {other: tart}", verbs)
    (tmp_path / "large").mkdir()
    [large, *_] = render_pairs("x", load_text(tmp_path / "large", people, text), people, 1, seed=0).pairs
    assert set(large.clusters) == {"frame", "others", "wording"}
    (tmp_path / "small").mkdir()
    text = WORD_LISTS.format(article="the", other="tart")
    [small, *_] = render_pairs("x", load_text(tmp_path / "small", people, text), people, 1, seed=0).pairs
    assert set(small.clusters) == {"frame", "wording"}


def test_a_diagnostic_has_its_wording_whichever_of_its_two_forms_is_right(tmp_path, people):
    pairs = render_pairs("x", load_text(tmp_path, people), people, 2, seed=0).pairs
    wordings = {pair.groups["variant"]: pair.clusters["wording"] for pair in pairs}
    assert len(set(wordings.values())) == len(wordings)
    assert all(wording.startswith("x ") and "{" in wording for wording in wordings.values())
