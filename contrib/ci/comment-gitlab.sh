#!/bin/sh
# comment-gitlab.sh - puts a file on a merge request as a note; a later job replaces it.
#
# usage: comment-gitlab.sh FILE
#
# It needs curl and jq, and MPMSTAT_GITLAB_TOKEN: a project access token with the scope api. The
# CI_ variables are GitLab's. Outside of a merge request's pipeline it does nothing.
set -eu

mark='<!-- mpmstat -->'
if [ -z "${CI_MERGE_REQUEST_IID-}" ] || [ -z "${MPMSTAT_GITLAB_TOKEN-}" ]; then
    echo "no merge request, or no MPMSTAT_GITLAB_TOKEN: no comment"
    exit 0
fi
notes=$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes

# The token goes by a file, so that it is in no process's arguments.
header=$(mktemp)
trap 'rm -f "$header"' EXIT
printf 'PRIVATE-TOKEN: %s\n' "$MPMSTAT_GITLAB_TOKEN" >"$header"

call() {
    curl --fail --silent --show-error --header "@$header" "$@"
}

earlier=$(call "$notes?sort=desc&per_page=100" |
    jq -r --arg mark "$mark" 'map(select(.body | startswith($mark))) | .[0].id // empty')
{ echo "$mark"; cat "$1"; } | jq -R -s '{body: .}' |
    if [ -n "$earlier" ]; then
        call --request PUT --header 'Content-Type: application/json' --data @- "$notes/$earlier"
    else
        call --header 'Content-Type: application/json' --data @- "$notes"
    fi >/dev/null
