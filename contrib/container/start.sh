#!/bin/sh
# start.sh - runs PHP-FPM and Apache in a container, until one of them ends or SIGTERM comes.
#
# mpmstat's boards belong on a tmpfs: /run is one with podman's and Docker's --tmpfs /run. Where it is not
# one, or has too little room, they go to /dev/shm, which containers have, if there is room; else they stay
# in /run, and a line says what that costs. Where /run cannot be written, this ends with an error.
#
# MPMSTAT_RUN and MPMSTAT_SHM name other directories than /run and /dev/shm, for the test.
set -eu

run=${MPMSTAT_RUN:-/run} shm=${MPMSTAT_SHM:-/dev/shm}
needed_kb=49152   # two boards of two CPUs, and some

say() { printf 'mpmstat: %s\n' "$*" >&2; }

is_tmpfs() { [ "$(stat -f -c %T "$1" 2>/dev/null)" = tmpfs ]; }
free_kb() { df -k -P "$1" 2>/dev/null | awk 'NR == 2 { print $4 }'; }
has_room() { [ -w "$1" ] && [ "$(free_kb "$1")" -ge "$needed_kb" ]; }

# Puts all boards elsewhere: what looks for them in /run/mpmstat follows the link.
put_in_shm() {
    mkdir -p "$shm/mpmstat"
    rm -rf "$run/mpmstat"
    ln -s "$shm/mpmstat" "$run/mpmstat"
    boards=$run/mpmstat
}

mkdir -p "$run/apache2" "$run/php" "$run/lock" 2>/dev/null || true
boards=$run/apache2
if ! [ -w "$run" ]; then
    say "$run cannot be written: neither server can run. Start the container with --tmpfs $run"
    exit 1
elif is_tmpfs "$run" && has_room "$run"; then
    mkdir -p "$run/mpmstat"
elif is_tmpfs "$shm" && has_room "$shm"; then
    put_in_shm
    say "$run is not a tmpfs with room here: the boards are in $shm/mpmstat ($(free_kb "$shm") kB free)"
else
    mkdir -p "$run/mpmstat"
    say "no tmpfs has $needed_kb kB free: the boards are in $run, and the kernel writes them to the disk" \
        "again and again. Start the container with --tmpfs $run, or with a larger --shm-size"
fi
if [ "${1-}" = --places ]; then   # only where the boards are
    printf '%s\n%s\n' "$boards" "$(readlink -f "$run/mpmstat")"
    exit
fi
printf 'MPMStatBoard %s/mpmstat.board\n' "$boards" >/etc/apache2/conf-enabled/mpmstat-container.conf

fpm=$(find /usr/sbin -name 'php-fpm[0-9]*' | sort | tail -n 1)
"$fpm" --nodaemonize &
fpm_pid=$!
set +u   # that file does without
# shellcheck disable=SC1091  # the package has it
. /etc/apache2/envvars
set -u
/usr/sbin/apache2 -D FOREGROUND &
apache_pid=$!

# SIGWINCH and SIGQUIT let requests end first.
stop() {
    kill -WINCH "$apache_pid" 2>/dev/null || true
    kill -QUIT "$fpm_pid" 2>/dev/null || true
}
trap stop TERM INT
while kill -0 "$apache_pid" 2>/dev/null && kill -0 "$fpm_pid" 2>/dev/null; do
    sleep 1 &
    wait $! || true
done
stop
wait
