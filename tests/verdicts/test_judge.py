"""The judge itself: findings as mpmstat could have them, and what they are judged as."""
import pytest

from judge import Case, judge, judge_advice

WANTED = Case("a-case", {"php-workers"}, None, also={"database"}, maybe={"sleep"},
              never={"keepalive"}, within=2)


def findings(*words):
    """From "code" or "code certainty share"."""
    parts = [word.split() + ["certain", "0.5"][len(word.split()) - 1:] for word in words]
    return [{"code": code, "certainty": certainty, "share": float(share)}
            for code, certainty, share in parts]


@pytest.mark.parametrize("words, outcome", [
    (("php-workers", "database"), "right"),
    (("php-workers", "sleep", "database"), "empty"),     # beyond the first two
    (("php-workers",), "empty"),
    (("sleep", "php-workers", "database"), "empty"),     # true, but not the cause
    (("nothing",), "empty"),
    ((), "empty"),
    (("cpu", "php-workers", "database"), "wrong"),
    (("php-workers", "database", "memory"), "wrong"),
    (("php-workers", "database", "memory likely"), "right"),
    (("php-workers", "database", "keepalive likely"), "wrong"),
    (("php-workers", "database", "keepalive likely 0.01"), "right"),
    (("php-workers", "database", "memory certain 0.01"), "right")])
def test_judge(words, outcome):
    assert judge(WANTED, findings(*words))[0] == outcome


def test_a_control_wants_nothing():
    wanted = Case("a-control", {"nothing"}, None)
    assert judge(wanted, findings("nothing"))[0] == "right"
    assert judge(wanted, [])[0] == "right"
    assert judge(wanted, findings("cpu"))[0] == "wrong"


@pytest.mark.parametrize("cause, outcome", [
    ({"code": "lock", "subject": "lock session"}, "right"),
    ({"code": "cpu", "subject": None}, "empty"),
    (None, "empty")])
def test_a_chain(cause, outcome):
    found = findings("lock", "php-workers")
    found[1]["caused_by"] = cause
    wanted = Case("a-chain", {"lock"}, None, maybe={"php-workers"},
                  follows=(("php-workers", "lock"),))
    assert judge(wanted, found)[0] == outcome


@pytest.mark.parametrize("text, outcome", [
    ("PHP's workers of the pool shop ran out", "right"),
    ("PHP's workers of the pool www ran out", "wrong")])
def test_a_phrase(text, outcome):
    wanted = Case("a-case", {"php-workers"}, None, maybe={"sleep"}, says="pool shop")
    found = findings("php-workers", "sleep")
    found[0]["text"], found[1]["text"] = text, "the pool shop"
    assert judge(wanted, found)[0] == outcome


@pytest.mark.parametrize("since, until, outcome", [
    (2.1, 3.4, "right"), (1.5, 4.0, "right"), (2.1, 2.4, "wrong"), (0.5, 3.4, "wrong"),
    (2.1, 5.0, "wrong"), (None, None, "empty")])
def test_a_part_of_the_run(since, until, outcome):
    found = findings("php-workers")
    found[0]["when"] = since and {"from_seconds": since, "until_seconds": until}
    wanted = Case("a-case", {"php-workers"}, None, when=(2, 3.5))
    assert judge(wanted, found)[0] == outcome


@pytest.mark.parametrize("followed, outcome", [
    ({"workers": 20, "predicted": 100.0, "met": 86.0}, "right"),
    ({"workers": 20, "predicted": 100.0, "met": 84.0}, "wrong"),
    ({"workers": 5, "predicted": 50.0, "met": 50.0}, "empty")])
def test_judge_advice(followed, outcome):
    assert judge_advice({"followed": {"start": 5, "before": 50.0, "helps": True, **followed}}
                        )[0] == outcome


def test_no_advice_is_empty():
    assert judge_advice({})[0] == "empty"
