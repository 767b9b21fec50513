#!/bin/sh
# build.sh - builds mpmstat's packages from a source directory: build.sh SOURCE PACKAGES
#
# As root in a Debian of its own: it installs what the build takes.
set -eu

source=$1 packages=$2
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -q -y install --no-install-recommends build-essential
cd "$source"
apt-get -q -y build-dep --no-install-recommends ./
DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" dpkg-buildpackage -us -uc -b
mkdir -p "$packages"
for name in libapache2-mod-mpmstat mpmstat php-mpmstat; do
    cp "$(dirname "$source")/${name}"_*.deb "$packages/"
done
