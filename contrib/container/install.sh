#!/bin/sh
# install.sh - installs Apache, PHP-FPM and mpmstat's packages: install.sh PACKAGES
#
# As root in a Debian of its own. Apache passes PHP pages to FPM; /mpm-status answers within the
# container only.
set -eu

packages=$1
export DEBIAN_FRONTEND=noninteractive
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d   # packages start nothing here
chmod 755 /usr/sbin/policy-rc.d
apt-get -q update
apt-get -q -y install --no-install-recommends apache2 apache2-utils php-fpm "$packages"/*.deb
rm -rf /usr/sbin/policy-rc.d /var/lib/apt/lists/*
a2enmod -q proxy_fcgi setenvif
a2enconf -q "$(basename /etc/apache2/conf-available/php*-fpm.conf .conf)"
ln -sf /proc/self/fd/2 /var/log/apache2/error.log
