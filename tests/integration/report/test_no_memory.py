"""Commands that get too little memory: each ends by itself, and says that memory is what it lacks."""
import resource

import pytest

import build
import test_agreement
import tool

MIB = 1 << 20
ENOUGH = 1024 * MIB     # of addresses, for any of these commands
STEP = MIB // 32
NOT_LOADED = 127        # by the dynamic linker: the command has not begun

pytestmark = pytest.mark.skipif(build.SANITIZE_ADDRESS, reason="takes terabytes of addresses")


def run(limit, *arguments):
    return tool.run(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                                      (limit, limit)))


def least(*arguments):
    """How many bytes of addresses the command needs at least."""
    low, high = 0, ENOUGH
    while high - low > STEP:
        middle = (low + high) // 2
        low, high = (low, middle) if run(middle, *arguments).returncode == 0 else (middle, high)
    return high


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "half.db"
    test_agreement.make(path, test_agreement.half_and_half())
    return path


COMMANDS = {
    "report-html": ["report", "-f", "html", "-o", "-", "ARCHIVE"],
    "report-trend": ["report", "--trend", "ARCHIVE"],
    "compare": ["compare", "ARCHIVE", "ARCHIVE"],
    "lab-list": ["lab", "list"],
    "lab-dry-run": ["lab", "run", "--dry-run", "1"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_it_ends_with_one_sentence(archive, command):
    """In the megabyte below what it needs, it fails at one place after the other."""
    if command.startswith("lab") and not build.LAB:
        pytest.skip("the lab was left out of this build")
    arguments = [str(archive) if word == "ARCHIVE" else word for word in COMMANDS[command]]
    enough = least(*arguments)
    ends = [run(enough - MIB + n * STEP, *arguments) for n in range(MIB // STEP)]
    began = [end for end in ends if end.returncode not in (0, NOT_LOADED)]
    for end in began:
        assert end.returncode in (3, 4), (end.returncode, end.stderr)
        assert end.stderr.startswith("mpmstat: ") and "memory" in end.stderr, end.stderr
        assert end.stderr.count("\n") == 1, end.stderr
    assert began, [end.stderr for end in ends]
