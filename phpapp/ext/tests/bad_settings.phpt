--TEST--
Numbers out of range leave the defaults
--EXTENSIONS--
mpmstat
--INI--
mpmstat.workers_limit=-1
mpmstat.processes=0
mpmstat.journal=99999999999
--FILE--
<?php
foreach (['workers_limit', 'processes', 'journal'] as $name)
    var_dump(ini_get("mpmstat.$name"));
var_dump(ini_set('mpmstat.label', 'mine'));
?>
--EXPECT--
string(1) "0"
string(4) "1024"
string(5) "65536"
bool(false)
