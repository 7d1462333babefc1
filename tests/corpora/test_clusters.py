"""The same job on a cluster, with a scheduler of a few lines that runs an array of jobs one after the other.

`tests/real/` has the real ones.
"""

import os
import sys
from pathlib import Path

import pandas as pd
import pytest
from pydantic import TypeAdapter
from small_corpora import CC, corpus_of, job_of, settings_of, write_corpus

from cxprobe.corpora import clusters
from cxprobe.corpora.collecting import collect
from cxprobe.corpora.engine import run_shards
from cxprobe.corpora.params import Engine
from cxprobe.errors import DataError

pytestmark = pytest.mark.pipeline

PROGRAMS = {
    "sbatch": """#!/usr/bin/env bash
set -euo pipefail
script="${@: -1}"
last=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p' "$script")
for task in $(seq 0 "$last"); do
  SLURM_ARRAY_TASK_ID=$task SLURM_NODELIST=here RUN_OFFSET=0 bash "$script" > /dev/null 2>> "$CLUSTER_LOG" || true
done
echo "Submitted batch job 7"
""",
    "srun": '#!/usr/bin/env bash\nwhile [[ "$1" == -* ]]; do [[ "$1" == -n ]] && shift; shift; done\nexec "$@"\n',
    "scontrol": "#!/usr/bin/env bash\necho here\n",
    "squeue": "#!/usr/bin/env bash\n",
}


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in PROGRAMS.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("CLUSTER_LOG", str(tmp_path / "log"))
    monkeypatch.setattr(clusters, "_POLLS", (0, 0))
    monkeypatch.setattr(clusters, "_SETTLE", 0)
    settings = {"workers": 2, "partition": "cpu", "qos": "normal", "time": "01:00:00", "memory_gb": 2}
    return TypeAdapter(Engine).validate_python(
        settings | {"kind": "slurm", "environment": "true", "options": {"account": "linguistics"}}
    )


@pytest.fixture
def corpus(tmp_path):
    write_corpus(tmp_path / "files", shards=2)
    return corpus_of(tmp_path / "files")


def test_slurm_finds_what_this_machine_finds(cluster, corpus, toy_tagger, tmp_path):
    settings = settings_of(toy_tagger)
    wanted, here = job_of(corpus, settings, tmp_path / "here")
    run_shards(here, settings.engine)
    _, there = job_of(corpus, settings, tmp_path / "there")
    reported: list[int] = []
    assert run_shards(there, cluster, reported.append) == sum(reported) == 3, (tmp_path / "log").read_text()
    first, second = (
        collect(job, CC, wanted[CC], settings.duplicates, tmp_path / f"out-{number}").sentences
        for number, job in enumerate((here, there))
    )
    pd.testing.assert_frame_equal(first, second)
    script = (Path(there.output) / "datatrove" / "launch_script.slurm").read_text()
    assert "#SBATCH --account=linguistics" in script
    assert run_shards(there, cluster) == 0


def test_shards_that_a_cluster_leaves_unfinished_are_named(cluster, corpus, toy_tagger, tmp_path):
    (tmp_path / "programs" / "srun").write_text("#!/usr/bin/env bash\nexit 1\n")
    _, job = job_of(corpus, settings_of(toy_tagger), tmp_path / "there")
    with pytest.raises(DataError, match=r"3 of 3 shards were not finished \(0\.json\.gz, 1\.json\.gz"):
        run_shards(job, cluster)
