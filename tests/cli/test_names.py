import pytest

from cxprobe.cli.names import complete_carried_preset, complete_preset, shown_size


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_960, "1.0 MB"),
        (999_960_000, "1.0 GB"),
        (5_000_000_000_000, "5000.0 GB"),
    ],
)
def test_a_size_is_shown_in_the_unit_that_fits(size, shown):
    assert shown_size(size) == shown


def test_the_presets_of_the_project_are_completed_and_without_them_the_carried_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [name for name in complete_preset() if name.startswith("emb")] == ["embedded"]
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "ember.yaml").touch()
    assert complete_preset() == ["ember"]
    assert [name for name in complete_carried_preset() if name.startswith("emb")] == [
        "embedded"
    ]  # what `cxprobe init` takes
