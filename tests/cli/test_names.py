from cxprobe.cli.names import complete_carried_preset, complete_preset


def test_the_presets_of_the_project_are_completed_and_without_them_the_carried_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [name for name in complete_preset() if name.startswith("emb")] == ["embedded"]
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "ember.yaml").touch()
    assert complete_preset() == ["ember"]
    assert [name for name in complete_carried_preset() if name.startswith("emb")] == [
        "embedded"
    ]  # what `cxprobe init` takes
