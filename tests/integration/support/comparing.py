"""Runs of two sides, recorded with ab on an Apache with PHP, and their comparison."""
import build
import tool

AB = build.find("ab")


def load(apache, path, n=30):
    """The command of n requests for the path, two at once."""
    return [AB, "-l", "-n", str(n), "-c", "2", f"http://127.0.0.1:{apache.port}{path}"]


def record(apache, archive, *options, status=0):
    done = tool.run("record", "-o", archive, "-t", apache.board, *options, timeout=120)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}"
    return done


def compare(*arguments, status=0):
    done = tool.run("compare", *arguments)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}{done.stdout}"
    return done
