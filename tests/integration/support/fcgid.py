"""Lines for an Apache whose PHP is php-cgi: under mod_fcgid, or as plain CGI."""
import build
import php

FCGID = build.APACHE_MODULES / "mod_fcgid.so"

# Needs the module fcgid. Processes are started as soon as they are wanted.
def fcgid(processes=4, program=php.CGI):
    return f"""
FcgidIPCDir "@ROOT@/run/fcgid"
FcgidProcessTableFile "@ROOT@/run/fcgid.table"
FcgidMaxProcesses {processes}
FcgidMaxProcessesPerClass {processes}
FcgidMinProcessesPerClass 0
FcgidSpawnScore 0
FcgidSpawnScoreUpLimit 1000
FcgidMaxRequestLen 1048576
<Directory "@ROOT@/htdocs">
    Options +ExecCGI
    AddHandler fcgid-script .php
    FcgidWrapper {program} .php
</Directory>
"""


# Needs the modules actions and cgi (or cgid on a threaded MPM).
def cgi(program=php.CGI):
    return f"""
ScriptAlias /php-bin/php "{program}"
<Location "/php-bin/php">
    Require all granted
</Location>
<FilesMatch "\\.php$">
    SetHandler application/x-httpd-php
</FilesMatch>
Action application/x-httpd-php /php-bin/php
"""
