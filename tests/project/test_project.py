"""Commands know where a project is."""

import pytest

from cxprobe.errors import ProjectError
from cxprobe.project.folder import is_project, require_project


def test_a_folder_with_any_part_of_a_project_is_one_and_below_it_the_nearest_is_named(tmp_path):
    with pytest.raises(ProjectError, match="go to the folder of a project, or make a project with `cxprobe init"):
        require_project(tmp_path)
    (tmp_path / "constructions").mkdir()
    assert is_project(tmp_path)
    require_project(tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(ProjectError, match=rf"\(cd {tmp_path}\)"):
        require_project(tmp_path / "a" / "b")
