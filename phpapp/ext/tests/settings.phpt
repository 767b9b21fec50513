--TEST--
The settings, their defaults, and where each may be set
--EXTENSIONS--
mpmstat
--INI--
mpmstat.board=
mpmstat.enable_cli=0
--FILE--
<?php
$where = [INI_PERDIR => 'directory', INI_SYSTEM => 'system', INI_PERDIR | INI_SYSTEM => 'directory',
          INI_ALL => 'all'];
foreach (ini_get_all('mpmstat') as $name => $setting)
    printf("%s=%s (%s)\n", $name, $setting['global_value'], $where[$setting['access']]);
?>
--EXPECT--
mpmstat.board= (system)
mpmstat.enable=1 (directory)
mpmstat.enable_cli=0 (system)
mpmstat.ends=1 (system)
mpmstat.group=adm (system)
mpmstat.journal=0 (system)
mpmstat.label= (directory)
mpmstat.places=1 (system)
mpmstat.processes=1024 (system)
mpmstat.profile=100 (system)
mpmstat.tenant_labels=8 (system)
mpmstat.trust_request_start=0 (system)
mpmstat.waits=1 (system)
mpmstat.workers_limit=0 (system)
