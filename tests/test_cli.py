from conftest import run, write_toy_construction


def test_check_accepts_a_project_that_is_as_it_should_be(project):
    assert "as they should be" in run(project, "cxprobe", "check").stdout


def test_check_tells_a_shared_content_word_and_exits_with_2(project):
    grammar = project / "constructions" / "toy" / "test.cfg"
    grammar.write_text(grammar.read_text().replace("'king'", "'cat'"))
    done = run(project, "cxprobe", "check", check=False)
    assert done.returncode == 2
    assert "line 8: 'cat' (NOUN) is also in constructions/toy/train.cfg, line 8 (NOUN)" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_construction_needs_no_python(project, tmp_path):
    write_toy_construction(tmp_path)
    (tmp_path / "toy").rename(project / "constructions" / "other")
    params = project / "params.yaml"
    params.write_text(params.read_text().replace("- toy", "- toy\n    - other").replace("[toy]", "[toy, other]"))
    assert "as they should be" in run(project, "cxprobe", "check").stdout
