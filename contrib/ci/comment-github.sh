#!/bin/sh
# comment-github.sh - puts a file on a pull request as a comment; a later run replaces it.
#
# usage: comment-github.sh FILE
#
# It needs gh, which GitHub's runners have, and GH_TOKEN with the permission pull-requests: write.
# GITHUB_REF is refs/pull/NUMBER/merge in a workflow of a pull request; in others it does nothing.
set -eu

case ${GITHUB_REF-} in
    refs/pull/*) ;;
    *) echo "no pull request: no comment"; exit 0 ;;
esac
number=${GITHUB_REF#refs/pull/}
number=${number%%/*}
gh pr comment "$number" --repo "$GITHUB_REPOSITORY" --body-file "$1" --edit-last --create-if-none
