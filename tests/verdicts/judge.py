"""Judges the findings of a case against what the case planted."""
from dataclasses import dataclass, field

# What says that no cause was found: right only where the case expects it.
SAYS_NOTHING = {"nothing", "too-short", "cannot-tell"}

# Codes that are false of every case that does not name them.
NEVER = {
    "answers-3xx", "answers-4xx", "answers-5xx", "answers-length", "client-aborts", "requests-died",
    "php-fatal", "php-down", "server-restarted", "h2-workers", "cpu-quota", "memory", "descriptors",
    "local-ports", "compiling", "cold-start", "php-connections",
    "event-connections", "child-churn", "slow-upload", "slow-headers", "server-paced",
    "slow-network", "memory-neighbour", "disk-neighbour", "cpu-neighbour", "database", "cache",
    "http", "process", "dns", "mail", "backend", "tls", "logging"}


@dataclass
class Case:
    name: str
    expected: set               # codes of which the first finding has one
    plant: object               # plant(stage): stages the fault, returns the recorded run
    also: set = field(default_factory=set)     # codes that are among the findings
    maybe: set = field(default_factory=set)    # codes that are true of the case, too
    never: set = field(default_factory=set)    # codes that are false of it, likely ones, too
    follows: tuple = ()         # (symptom, root): the first is a finding, caused by the second
    within: int = 0             # also: among so many first ones; 0: anywhere
    fast: bool = False          # in the half that make check-verdicts-fast runs
    light: bool = False         # it takes a quarter of a CPU: it runs beside other light ones
    says: str = ""              # a phrase in the text of a finding that is expected
    when: tuple = ()            # (from, until): seconds of the run in which the fault was there
    place: str = ""             # the function that the first finding names in PHP's code
    followed: bool = False      # its advice is followed, and the rate that it predicts is met


CASES = {}


def case(expected, *, also="", maybe="", never="", follows="", within=0, says="", when=(), place="",
         fast=False, light=False, followed=False):
    """The function below it is a case; codes are words in a string, of `follows` SYMPTOM<ROOT."""
    def add(plant):
        name = plant.__name__.replace("_", "-")
        assert name not in CASES, name
        CASES[name] = Case(name, set(expected.split()), plant, set(also.split()),
                           set(maybe.split()), set(never.split()),
                           tuple(tuple(link.split("<")) for link in follows.split()), within, fast,
                           light, says, when, place, followed)
        return plant
    return add


# A finding that explains less than this share of the time is not a claim to be the cause.
CLAIM = 0.1


# Seconds by which a finding's `when` can be off: the load tool has to start, and requests that are
# under way as a fault begins or ends are counted to where they were.
WHEN_OFF = 0.6


# What advice predicts is met within this part of it.
MET_WITHIN = 0.15


def judge_advice(run):
    """("right", "empty" or "wrong", and why) for a case whose advice was followed."""
    if "followed" not in run:
        return "empty", "no finding advises a number of workers"
    followed = run["followed"]
    said = (f"{followed['workers']} workers: {followed['before']:.0f} requests a second before, "
            f"{followed['predicted']:.0f} predicted, {followed['met']:.0f} met")
    if followed["helps"] and followed["workers"] <= followed["start"]:
        return "empty", f"no more workers are advised; {said}"
    off = abs(followed["met"] - followed["predicted"]) / followed["predicted"]
    return ("right" if off <= MET_WITHIN else "wrong"), said


def claims(finding):
    """Whether it says for certain that it is a cause; failures have no share."""
    share = finding.get("share")
    return finding["certainty"] == "certain" and (share is None or share >= CLAIM)


def is_said(finding):
    """Whether it explains enough to be read as a cause, however sure it is."""
    share = finding.get("share")
    return share is not None and share >= CLAIM


def false_codes(wanted):
    symptoms = {symptom for symptom, _ in wanted.follows}
    return (NEVER | wanted.never) - wanted.expected - wanted.also - wanted.maybe - symptoms


def is_of_then(wanted, finding):
    """Whether it says the time of the fault: nothing before and after, and half of it or more."""
    said, (since, until) = finding.get("when"), wanted.when
    if not said:
        return False
    low, high = said["from_seconds"], said["until_seconds"]
    return (since - WHEN_OFF <= low and high <= until + WHEN_OFF
            and high - low >= (until - since) / 2)


def unlinked(wanted, findings):
    """The chains of the case that the findings do not have."""
    links = {(f["code"], f["caused_by"]["code"]) for f in findings if f.get("caused_by")}
    return [f"{symptom} because of {root}" for symptom, root in wanted.follows
            if (symptom, root) not in links]


def judge_explained(wanted, findings):
    """("right", "empty" or "wrong", and why) for what explain finds: without a load tool's side
    some causes are not seen, but nothing false is said."""
    codes = [finding["code"] for finding in findings]
    first = codes[0] if codes else "nothing"
    true = wanted.expected | wanted.also | wanted.maybe | {root for _, root in wanted.follows}
    missing = unlinked(wanted, findings)
    false = [f["code"] for f in findings if claims(f) and f["code"] in false_codes(wanted)]
    if false or first not in true | SAYS_NOTHING:
        return "wrong", f"{(false or [first])[0]} is said, and false"
    if first in SAYS_NOTHING - wanted.expected or missing:
        return "empty", f"nothing of {', '.join(missing)}" if missing else first
    return "right", ""


def judge(wanted, findings):
    """("right", "empty" or "wrong", and why) for the findings of a run, strongest first."""
    codes = list(dict.fromkeys(finding["code"] for finding in findings))
    # It says how the load ended, and no cause.
    if "load-cut-short" in codes and "load-cut-short" not in wanted.expected:
        codes.remove("load-cut-short")
    first = codes[0] if codes else "nothing"
    false = [f["code"] for f in findings if (claims(f) and f["code"] in false_codes(wanted))
             or (is_said(f) and f["code"] in wanted.never - wanted.maybe)]
    if false:
        return "wrong", f"{false[0]} is said, and false"
    if first in wanted.expected:
        missing = wanted.also - set(codes[:wanted.within] if wanted.within else codes)
        missing |= set(unlinked(wanted, findings))
        if wanted.says and not any(wanted.says in f.get("text", "") for f in findings
                                   if f["code"] in wanted.expected | wanted.also):
            return "wrong", f'"{wanted.says}" is not said'
        said = next((f for f in findings if f["code"] == first), {})
        named = (said.get("place") or {}).get("function", "")
        if wanted.place and named != wanted.place:
            return "wrong" if named else "empty", f"it is in {named or 'no function'}"
        if wanted.when and not is_of_then(wanted, said):
            when = said.get("when")
            return "wrong" if when else "empty", f"when: {when}, and it was {wanted.when}"
        return ("empty", f"nothing of {', '.join(sorted(missing))}") if missing else ("right", "")
    if first in SAYS_NOTHING:
        return "empty", first
    if first in wanted.maybe:
        return "empty", f"{first} is first, which is true, but not the cause"
    return "wrong", f"{first} is first"
