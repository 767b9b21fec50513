"""mpmstat explain, as JSON and as text."""
import json

import tool


def explain(*words, status=0):
    done = tool.run("explain", "--format", "json", *words)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}{done.stdout}"
    return json.loads(done.stdout)


def shown(*words):
    done = tool.run("explain", *words)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


def first(found):
    return found["past"]["findings"][0]
