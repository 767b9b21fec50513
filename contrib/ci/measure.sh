#!/bin/sh
# measure.sh - starts an application, records loads, and judges them: for any CI, see README.md here.
#
# It reads these variables; those of MPMSTAT_A and MPMSTAT_B are words for a shell:
#   MPMSTAT_A               the load's command; with MPMSTAT_B of the version to compare with
#   MPMSTAT_B               the command that loads the new version; empty: only A is recorded
#   MPMSTAT_START           a shell command that starts the application and returns when it answers
#   MPMSTAT_STOP            a shell command that stops it, also where something failed
#   MPMSTAT_TARGET          a server to record, as mpmstat record -t takes it; empty: all here
#   MPMSTAT_REPEAT          how often each command runs (5)
#   MPMSTAT_FAIL_IF_SLOWER  fail where B is slower by more than this, as 5%; empty: never
#   MPMSTAT_FAIL_ON         fail where a run has one of these findings, as answers-5xx,php-workers
#   MPMSTAT_DIRECTORY       where the results go (mpmstat-results)
#   MPMSTAT                 the program (mpmstat)
#
# Results: run.db, comment.md (for a pull request), report.html, status. Where GITHUB_OUTPUT and
# GITHUB_STEP_SUMMARY name files, these get the results' names and the comment.
#
# Exit status: 0 fine; 1 slower than allowed, or one of the findings; 2 something did not work.
set -u

mpmstat=${MPMSTAT:-mpmstat}
directory=${MPMSTAT_DIRECTORY:-mpmstat-results}
repeat=${MPMSTAT_REPEAT:-5}
archive=$directory/run.db
comment=$directory/comment.md
a=${MPMSTAT_A-} b=${MPMSTAT_B-}
judged=0

fail() {
    printf 'measure.sh: %s\n' "$*" >&2
    exit 2
}

# shellcheck disable=SC2317  # a trap calls it
stop() {
    if [ -n "${MPMSTAT_STOP-}" ]; then
        sh -c "$MPMSTAT_STOP" || printf 'measure.sh: the command of MPMSTAT_STOP failed\n' >&2
    fi
}

# What a command's exit status says of the measured application; anything but 0 and 1 ends it.
judge() {
    case $1 in
        0) ;;
        1) judged=1 ;;
        *) fail "$2 ended with status $1" ;;
    esac
}

record() {
    set -- -q -o "$archive" --repeat "$repeat"
    if [ -n "${MPMSTAT_TARGET-}" ]; then set -- "$@" -t "$MPMSTAT_TARGET"; fi
    if [ -n "$b" ]; then
        eval "\"\$mpmstat\" record \"\$@\" --interleave -- $a --versus $b"
    else
        eval "\"\$mpmstat\" record \"\$@\" -- $a"
    fi
}

compare() {
    set -- --format md
    if [ -n "${MPMSTAT_FAIL_IF_SLOWER-}" ]; then
        set -- "$@" --fail-if-slower "$MPMSTAT_FAIL_IF_SLOWER"
    fi
    "$mpmstat" compare "$@" "$archive#A" "$archive#B"
}

report() {
    set -- --format md
    if [ -n "${MPMSTAT_FAIL_ON-}" ]; then set -- "$@" --fail-on "$MPMSTAT_FAIL_ON"; fi
    "$mpmstat" report "$@" "$archive"
}

[ -n "$a" ] || fail "MPMSTAT_A should be the load's command, as: ab -n 2000 -c 20 http://127.0.0.1/"
command -v "$mpmstat" >/dev/null || fail "there is no $mpmstat: install the package mpmstat first"
mkdir -p "$directory" || fail "the directory $directory cannot be made"
rm -f "$archive" "$comment" "$directory/report.html" "$directory/status"

trap stop EXIT
trap 'exit 2' HUP INT TERM
if [ -n "${MPMSTAT_START-}" ]; then
    sh -c "$MPMSTAT_START" || fail "the command of MPMSTAT_START failed: the application does not run"
fi

record || fail "the load was not recorded: mpmstat record ended with status $?"
if [ -n "$b" ]; then
    compare >"$comment"
    judge $? "mpmstat compare"
    printf '\n<details><summary>All runs</summary>\n\n' >>"$comment"
fi
report >>"$comment"
judge $? "mpmstat report"
if [ -n "$b" ]; then printf '\n</details>\n' >>"$comment"; fi
"$mpmstat" report -o "$directory/report.html" "$archive" || fail "the page was not written"
echo "$judged" >"$directory/status"

if [ -n "${GITHUB_STEP_SUMMARY-}" ]; then cat "$comment" >>"$GITHUB_STEP_SUMMARY"; fi
if [ -n "${GITHUB_OUTPUT-}" ]; then
    {
        printf 'archive=%s\ncomment=%s\nreport=%s\n' "$archive" "$comment" "$directory/report.html"
        if [ "$judged" = 0 ]; then echo passed=true; else echo passed=false; fi
    } >>"$GITHUB_OUTPUT"
fi
if [ "$judged" = 1 ]; then
    printf 'measure.sh: slower than allowed, or a finding that fails it: see %s\n' "$comment" >&2
fi
exit "$judged"
