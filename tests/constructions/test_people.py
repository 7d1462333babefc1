import pytest

from conftest import PEOPLE
from cxprobe.constructions.people import load_people
from cxprobe.errors import ConstructionError


def people_of(folder, text):
    (folder / "people.yaml").write_text(text)
    return load_people(folder / "people.yaml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[feminine, masculine]", "[feminine, neuter]", "line 6: types.job.pronouns: 'neuter' is not among"),
        ("[feminine, masculine]", "[feminine, feminine]", "types.job.pronouns: 'feminine' is listed more than once"),
        ("Ida, Mia", "Ida, Ann", "types.name.nouns: 'Ann' is listed more than once"),
        ("they: he, them: him", "they: he", "line 1: pronouns: every gender must fill the same slots"),
    ],
)
def test_a_fault_of_the_people_is_told(tmp_path, old, new, message):
    with pytest.raises(ConstructionError) as raised:
        people_of(tmp_path, PEOPLE.replace(old, new))
    assert message in str(raised.value)
