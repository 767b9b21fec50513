# mpmstat.bash - completes mpmstat's command line in bash. Verbs and options come from the command's
# own help. The values of options and the arguments of verbs are in this file.

# Prints the verbs of the command's help, or of a verb's own help.
_mpmstat_verbs() {
    "$@" --help 2>/dev/null | sed -n '/^Try it:/q; /^Examples:/q; s/^  \([a-z][a-z-]*\)  *[^ ].*/\1/p'
}

# Prints a line for each option of a verb's help: "--long -s VALUE", with "-" for no short name.
_mpmstat_option_lines() {
    "$@" --help 2>/dev/null | sed -nE -e '/^Examples:/q' \
        -e 's/^ +(-[A-Za-z]), (--[a-z-]+)( ([A-Z]+))?( .*|$)/\2 \1 \4/p' \
        -e 's/^ +(--[a-z-]+)( ([A-Z]+))?( .*|$)/\1 - \3/p'
}

# Prints the names of the lab's "stacks", "workloads" or "studies".
_mpmstat_lab_names() {
    "$1" lab list 2>/dev/null | awk -v kind="$2," '/^[a-z]/ { on = $1 == kind } on && /^  / { print $1 }'
}

_mpmstat_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_mpmstat_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# COMMAND ARCHIVE: prints the names of the archive's runs, which the command says where one is missing.
_mpmstat_run_names() {
    "$1" compare "$2#" "$2#" 2>&1 >/dev/null |
        sed -n '1s/.*; it has runs called "\(.*\)"$/\1/p' | sed 's/", "/\n/g'
}

# Completes an archive, or behind ARCHIVE# the name of one of its runs.
_mpmstat_archives() {
    local name
    if [[ $1 == *\#* && -f ${1%%\#*} ]]; then
        while IFS= read -r name; do
            if [[ ${1%%\#*}#$name == "$1"* ]]; then COMPREPLY+=("${1%%\#*}#$name"); fi
        done < <(_mpmstat_run_names "${COMP_WORDS[0]}" "${1%%\#*}")
        return
    fi
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -X '!*.db' -- "$1"; compgen -f -X '!*.sqlite' -- "$1"
                             compgen -d -- "$1")
    if ((${#COMPREPLY[@]} == 0)); then _mpmstat_files "$1"; fi
}

# Completes a target: a file, or a board in the directories where servers put theirs.
_mpmstat_targets() {
    local directory board directories
    _mpmstat_files "$1"
    IFS=: read -ra directories <<<"${MPMSTAT_RUNDIR:-/run/mpmstat:/run/mpmstat/php:/run/apache2}"
    if [[ -z ${MPMSTAT_RUNDIR-} ]]; then directories+=(/run/apache2-*); fi
    for directory in "${directories[@]}"; do
        for board in "$directory"/*.board; do
            if [[ -e $board && $board == "$1"* ]]; then COMPREPLY+=("$board"); fi
        done
    done
}

# Completes a run of the archives on the command line.
_mpmstat_runs() {
    local archive name
    for archive in "${COMP_WORDS[@]:2}"; do
        if [[ -f $archive ]]; then
            while IFS= read -r name; do
                if [[ $name == "$1"* ]]; then COMPREPLY+=("$name"); fi
            done < <(_mpmstat_run_names "${COMP_WORDS[0]}" "$archive")
        fi
    done
}

# VERB NUMBER WORD: completes an argument of a verb of the lab: a name, or the path of a file.
_mpmstat_lab_argument() {
    local kind=
    case $1$2 in
        up1|try1) kind=stacks ;;
        up2|try2) kind=workloads ;;
        run1)     kind=studies ;;
    esac
    if [[ $3 == */* ]]; then
        _mpmstat_files "$3"
    elif [[ $kind ]]; then
        _mpmstat_words "$(_mpmstat_lab_names "${COMP_WORDS[0]}" "$kind")" "$3"
    fi
}

# Completes the load tool and its arguments, which begin at this word.
_mpmstat_command() {
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif ((COMP_CWORD == $1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
    else
        _mpmstat_files "${COMP_WORDS[COMP_CWORD]}"
    fi
}

# VERB OPTION NAME-IN-THE-HELP WORD: completes the value of an option.
_mpmstat_value() {
    case $3 in
        FORMAT)
            case $1 in
                status) _mpmstat_words 'text json openmetrics prometheus' "$4" ;;
                report) _mpmstat_words 'html md csv json text' "$4" ;;
                fields) _mpmstat_words 'text json md' "$4" ;;
                compare) _mpmstat_words 'text md json csv' "$4" ;;
                whatif|capacity) _mpmstat_words 'text json html' "$4" ;;
                *)      _mpmstat_words 'text json' "$4" ;;
            esac ;;
        WHEN) _mpmstat_words 'auto always never' "$4" ;;
        STACK) _mpmstat_words "$(_mpmstat_lab_names "${COMP_WORDS[0]}" stacks)" "$4" ;;
        RUN)   _mpmstat_runs "$4" ;;
        TARGET) _mpmstat_targets "$4" ;;
        FILE|DIR) _mpmstat_files "$4" ;;
    esac
}

_mpmstat() {
    local command=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]-}
    local first=2 arguments=0 lines options='' long short what at takes previous=
    local -A value=()
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _mpmstat_words "$(_mpmstat_verbs "$command") --help --version" "$word"
        return
    fi
    case $verb in
        help)
            if ((COMP_CWORD == 2)); then
                _mpmstat_words "$(_mpmstat_verbs "$command"; "$command" help words | cut -d' ' -f1)" \
                    "$word"
            fi
            return ;;
        lab)
            if ((COMP_CWORD == 2)); then
                _mpmstat_words "$(_mpmstat_verbs "$command" lab) --help" "$word"
                return
            fi
            first=3 ;;
    esac

    lines=$(_mpmstat_option_lines "${COMP_WORDS[@]:0:first}")
    while read -r long short what; do
        options+=" $long"
        if [[ $what ]]; then
            value[$long]=$what
            value[$short]=$what
        fi
    done <<<"$lines"

    # Finds where the load's command begins, and whether the word is an option's value.
    for ((at = first; at < COMP_CWORD; at++)); do
        takes=${COMP_WORDS[at]}
        if [[ $previous ]]; then
            previous=
        elif [[ $takes == -- && $verb == @(record|capacity|lab) ]]; then
            _mpmstat_command $((at + 1))
            return
        elif [[ $takes == -* ]]; then
            previous=${value[$takes]-}
        elif [[ $verb == @(record|capacity) ]]; then
            _mpmstat_command "$at"
            return
        else
            ((arguments += 1))
        fi
    done
    if [[ $previous ]]; then
        _mpmstat_value "$verb" "$takes" "$previous" "$word"
    elif [[ $word == -* ]]; then
        _mpmstat_words "$options" "$word"
    elif [[ $verb == @(record|capacity) ]]; then
        _mpmstat_command "$COMP_CWORD"
    elif [[ $verb == lab ]]; then
        _mpmstat_lab_argument "${COMP_WORDS[2]}" $((arguments + 1)) "$word"
    elif [[ $verb == @(report|compare) ]]; then
        _mpmstat_archives "$word"
    elif [[ $verb == @(status|explain|serve|export) ]]; then
        _mpmstat_targets "$word"
    else
        _mpmstat_files "$word"
    fi
}

complete -F _mpmstat mpmstat
