import json
import subprocess

from cxprobe.run.running import scheduled

DVC_YAML = """
stages:
  make: {cmd: "true", outs: [{made: {cache: false}}], params: [seed]}
  measure: {matrix: {model: [a, b]}, cmd: "true", deps: [made], outs: ["measured-${item.model}"]}
  other: {cmd: "true", outs: [others], params: [other]}
  look: {cmd: "true", always_changed: true}
"""


def test_the_first_stage_finds_what_is_to_run_and_the_others_count_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dvc.yaml").write_text(DVC_YAML)
    (tmp_path / "params.yaml").write_text("seed: 1\nother: 1\n")
    for made in ("made", "others", "measured-a", "measured-b"):
        (tmp_path / made).write_text(made)
    for command in (["dvc", "init", "-q", "--no-scm"], ["dvc", "commit", "-q", "-f"]):
        subprocess.run(command, check=True)
    (tmp_path / "params.yaml").write_text("seed: 2\nother: 1\n")
    for stage in ("make", "measure@a", "measure@b"):
        with scheduled(stage):
            pass
    told = [line.partition(" of the")[0] for line in capsys.readouterr().out.splitlines()]
    assert told == ["stage 1 of 3", "stage 2 of 3", "stage 3 of 3"]
    kept = tmp_path / "data/.scratch/schedule/stages"
    for number, stage in enumerate(("make", "measure@a", "measure@b")):
        own = json.loads((kept / f"{stage}.json").read_text())
        assert own["seconds"] < 60
        (kept / f"{stage}.json").write_text(json.dumps(own | {"seconds": 120 * number}))
    for stage in ("make", "measure@b"):
        with scheduled(stage):
            pass
    minutes = [line.partition("up to date, ")[2].partition(" left")[0] for line in capsys.readouterr().out.splitlines()]
    assert minutes == ["6 min", "6 min"]
