"""Commands know where a project is, and which names it has."""

import pytest

from cxprobe.errors import ConstructionError, ProjectError
from cxprobe.run.project import construction_names, is_project, model_names, require_construction, require_project


def test_a_folder_with_any_part_of_a_project_is_one(tmp_path):
    assert not is_project(tmp_path)
    (tmp_path / "constructions").mkdir()
    assert is_project(tmp_path)
    require_project(tmp_path)


def test_another_folder_is_refused_and_the_nearest_project_above_it_is_named(tmp_path):
    with pytest.raises(ProjectError, match="go to the folder of a project, or make a project with `cxprobe init"):
        require_project(tmp_path)
    (tmp_path / "params.yaml").write_text("")
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(ProjectError, match=rf"\(cd {tmp_path}\)"):
        require_project(tmp_path / "a" / "b")


def test_constructions_are_folders_with_a_construction_yaml(toy_constructions):
    (toy_constructions / "empty").mkdir()
    project = toy_constructions.parent / "constructions"
    project.symlink_to(toy_constructions)
    assert construction_names(project.parent) == ["toy"]
    with pytest.raises(ConstructionError, match=r"tyo/construction.yaml: there is no such file; did you mean 'toy'"):
        require_construction("tyo", project.parent)
    project.unlink()
    (toy_constructions / "empty").rmdir()


def test_models_are_those_that_are_carried_and_those_of_params_yaml(tmp_path):
    assert model_names(tmp_path) == ["mini-clm", "mini-mlm"]
    models = "models:\n  a: {name: some/model}\n  b: {kind: blind}\n  c: {name: mini-clm}\n"
    (tmp_path / "params.yaml").write_text(models)
    assert model_names(tmp_path) == ["mini-clm", "mini-mlm", "some/model"]
    (tmp_path / "params.yaml").write_text("models: {broken\n")
    assert model_names(tmp_path) == ["mini-clm", "mini-mlm"]
