"""A Slurm cluster on this machine: munge, a controller and two nodes, each a daemon, all in one folder."""

import getpass
import os
import platform
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from servers import free_ports, wait_until

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue", "scancel")
NODES = ("n1", "n2")
CPUS, MEMORY_MB, DEVICES = 2, 16000, ("/dev/null", "/dev/zero")  # of each node, as far as Slurm knows
MOST_TASKS = 4  # of an array of jobs, so that a few shards need more than one
# Debian has the daemons where only root's PATH looks.
PATH = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/usr/local/sbin"])


def missing_programs() -> list[str]:
    """Return the names of programs of Slurm and munge that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]


@dataclass(frozen=True)
class Cluster:
    """A running cluster: the folder of its files, and the environment in which its programs find it."""

    folder: Path
    environment: dict[str, str]

    def ask(self, *command: str) -> str:
        """Run one of Slurm's programs and return what it prints."""
        environment = os.environ | self.environment
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    def jobs(self, *states: str) -> list[tuple[str, str, str]]:
        """Return id, task and name of the jobs, each task of an array apart; by default of those that go on."""
        asked = self.ask("squeue", "-h", "--array", "-o", "%F %K %j", "-t", ",".join(states or ("PD", "R", "CG")))
        return [tuple(line.split(maxsplit=2)) for line in asked.splitlines()]

    def cancel_all(self) -> None:
        """End all jobs and wait until they have."""
        self.ask("scancel", "--user", getpass.getuser())
        wait_until(lambda: not self.jobs())


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """Start a cluster in a new folder at free ports and stop it when the block ends, with the jobs that are left.

    It needs no rights: whoever starts it is Slurm's user, and munge has a key and a socket of its own.
    """
    for name in ("state", *(f"spool-{node}" for node in NODES)):
        (folder / name).mkdir(parents=True)
    folder.chmod(0o755)  # munge refuses a socket in a folder that others cannot enter
    key, conf = folder / "munge.key", folder / "slurm.conf"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    conf.write_text(_configuration(folder))
    # Devices to be counted, where there are none: nothing computes on them.
    (folder / "gres.conf").write_text("".join(f"Name=gpu File={device}\n" for device in DEVICES))
    environment = {"SLURM_CONF": str(conf)}
    files = {"key-file": key, "socket": folder / "munge", "pid-file": folder / "munge.pid"}
    files |= {"log-file": folder / "munge.log", "seed-file": folder / "munge.seed"}
    options = [f"--{name}={path}" for name, path in files.items()]
    cluster = Cluster(folder, environment)
    with ExitStack() as daemons:
        daemons.enter_context(_running(folder, environment, "munged", "--foreground", "--force", *options))
        wait_until((folder / "munge").exists)
        daemons.enter_context(_running(folder, environment, "slurmctld", "-D"))
        for node in NODES:
            daemons.enter_context(_running(folder, environment, "slurmd", "-D", "-N", node))
        wait_until(lambda: _is_ready(cluster))
        try:
            yield cluster
        finally:
            cluster.cancel_all()


def _configuration(folder: Path) -> str:
    host, user, ports = platform.node(), getpass.getuser(), free_ports(1 + len(NODES))
    size = f"CPUs={CPUS} RealMemory={MEMORY_MB} Gres=gpu:{len(DEVICES)}"
    nodes = "\n".join(
        f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} {size}"
        for node, port in zip(NODES, ports[1:], strict=True)
    )
    return f"""\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder / "munge"}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
MaxArraySize={MOST_TASKS}
KillWait=2
ReturnToService=2
GresTypes=gpu
SwitchType=switch/none
MpiDefault=none
StateSaveLocation={folder / "state"}
SlurmdSpoolDir={folder}/spool-%n
SlurmctldLogFile={folder / "slurmctld.log"}
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldPidFile={folder / "slurmctld.pid"}
SlurmdPidFile={folder}/slurmd-%n.pid
{nodes}
PartitionName=cpu Nodes={",".join(NODES)} Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes={",".join(NODES)} MaxTime=1 State=UP
"""


@contextmanager
def _running(folder: Path, environment: dict[str, str], program: str, *options: str) -> Iterator[None]:
    """Run a daemon in the foreground while the block runs; what it prints is in a file of its name."""
    path = shutil.which(program, path=PATH)
    with (folder / f"{program}.printed").open("a") as printed:
        daemon = subprocess.Popen(
            [str(path), *options],
            env=os.environ | environment | {"PATH": PATH},
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
        )
    try:
        yield
    finally:
        daemon.terminate()
        try:
            daemon.wait(20)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def _is_ready(cluster: Cluster) -> bool:
    try:
        states = cluster.ask("sinfo", "-h", "-N", "-o", "%T").split()
    except subprocess.CalledProcessError:
        return False
    return len(states) >= len(NODES) and set(states) == {"idle"}  # each node once for each partition
