"""contrib/container: where start.sh puts the boards, on file systems as containers have them; and that
the Containerfile calls the scripts that `make deb-check` runs in a plain Debian."""
import os
import re
import subprocess

import pytest

import build

CONTAINER = build.SRCDIR / "contrib" / "container"
TMPFS, DISK = "mount -t tmpfs -o size=80m none", "mount -t ramfs none"   # ramfs: anything but tmpfs
SMALL = "mount -t tmpfs -o size=1m none"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it mounts file systems")
@pytest.mark.parametrize("run, shm, place, said", [
    (TMPFS, TMPFS, "run", ""),
    (TMPFS, SMALL, "run", ""),
    (DISK, TMPFS, "shm", "is not a tmpfs with room here: the boards are in SHM/mpmstat ("),
    (SMALL, TMPFS, "shm", "is not a tmpfs with room here"),
    (DISK, SMALL, "run", "no tmpfs has 49152 kB free: the boards are in RUN, and the kernel writes"),
    (DISK, DISK, "run", "with a larger --shm-size"),
    ("mount -t tmpfs -o ro none", TMPFS, None, "RUN cannot be written: neither server can run"),
])
def test_places(tmp_path, run, shm, place, said):
    at = {"run": tmp_path / "run", "shm": tmp_path / "shm"}
    for path in at.values():
        path.mkdir()
    done = subprocess.run(
        ["unshare", "-m", "sh", "-ec", f"{run} {at['run']}; {shm} {at['shm']}; exec sh "
         f"{CONTAINER}/start.sh --places"], text=True, capture_output=True,
        env={**os.environ, "MPMSTAT_RUN": str(at["run"]), "MPMSTAT_SHM": str(at["shm"])})
    said = said.replace("RUN", str(at["run"])).replace("SHM", str(at["shm"]))
    assert said in done.stderr and bool(said) == bool(done.stderr), done.stderr
    if place is None:
        assert done.returncode == 1 and "--tmpfs" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    apache, php = done.stdout.split()
    if place == "run":
        assert [apache, php] == [str(at["run"] / "apache2"), str(at["run"] / "mpmstat")]
    else:
        assert [apache, php] == [str(at["run"] / "mpmstat"), str(at["shm"] / "mpmstat")]


def test_containerfile():
    """Its RUN and COPY lines name what is there, and `make deb-check` runs the same scripts."""
    text = (CONTAINER / "Containerfile").read_text()
    scripts = re.findall(r"^(?:RUN sh|CMD \[\"sh\",) \S*/(\w+\.sh)|, \"\S*/(\w+\.sh)\"", text, re.M)
    assert {a or b for a, b in scripts} == {"build.sh", "install.sh", "start.sh"}
    for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.M):
        for source in line.split()[:-1]:
            assert (build.SRCDIR / source).exists(), source
    packages = build.SRCDIR / "tests" / "packages"   # the repository has it, the source archive not
    tests = "".join(path.read_text() for path in packages.glob("c[ho]*")) or text
    for name in ("build.sh", "install.sh", "start.sh"):
        assert name in tests and os.access(CONTAINER / name, os.X_OK), name
