# lib.sh - what the scripts that set up real applications share: messages, missing
# packages, a directory that is theirs. Sourced by them; does nothing by itself.
# shellcheck shell=bash

name=$(basename "$0")

note() { printf '%s: %s\n' "$name" "$*" >&2; }
fail() { printf '%s: %s\n' "$name" "$*" >&2; exit 1; }

# need PACKAGE FILE [PACKAGE FILE]...: every file (or pattern) is there, or a sentence
# with the one command that brings the packages of those that are not.
need() {
    local missing=()
    while (($#)); do
        compgen -G "$2" >/dev/null || missing+=("$1")
        shift 2
    done
    ((${#missing[@]} == 0)) || fail "what these Debian packages have is missing; install it with:" \
        "apt-get install --no-install-recommends ${missing[*]}"
}

# The directory that a script made is marked, so that `down` never removes another.
marker=.mpmstat-real-$name
directory=

# make_directory DIRECTORY: new, or empty. The path is absolute from here on, in $directory.
make_directory() {
    [[ ! -e $1/$marker ]] || fail "$1 has a $name already: take it down first ($0 down $1)"
    mkdir -p -- "$1" || fail "$1 should be a directory that can be made"
    [[ -z $(ls -A -- "$1") ]] || fail "$1 should be new or empty, and is not"
    directory=$(cd -- "$1" && pwd)
    [[ $directory =~ ^[A-Za-z0-9_./-]+$ ]] ||
        fail "$directory should be of letters, digits and _ . - / only: it goes into configurations"
    chmod 755 "$directory"
    : >"$directory/$marker"
}

# find_directory DIRECTORY: one that make_directory made.
find_directory() {
    [[ -e $1/$marker ]] || fail "$1 is not a directory that '$0 up' made"
    directory=$(cd -- "$1" && pwd)
}

# The user that serves: files that it should write are its.
server_user() { if ((EUID == 0)); then echo www-data; else id -un; fi; }

# Whether the process still is that program. One that has ended and that nobody has waited for
# yet is none any more.
is_program() { [[ $(readlink "/proc/$1/exe") == */"$2"* ]]; }

# stop_by_pid_file FILE PROGRAM: ends the process of that pid if it still is PROGRAM.
stop_by_pid_file() {
    local pid tries
    [[ -s $1 ]] || return 0
    pid=$(<"$1")
    [[ $pid =~ ^[0-9]+$ ]] && is_program "$pid" "$2" || return 0
    kill -TERM "$pid" 2>/dev/null || return 0
    for ((tries = 0; tries < 300; tries++)); do
        is_program "$pid" "$2" || return 0
        sleep 0.1
    done
    note "$2 (pid $pid) did not end within 30 seconds of SIGTERM: SIGKILL"
    kill -KILL "$pid" 2>/dev/null || true
}

# up_or_down UP DOWN ARGUMENT...: what the command line asks for.
up_or_down() {
    local up=$1 down=$2
    shift 2
    if (($# != 2)) || [[ $1 != up && $1 != down ]]; then
        usage >&2
        exit 2
    fi
    if [[ $1 == up ]]; then "$up" "$2"; else "$down" "$2"; fi
}
