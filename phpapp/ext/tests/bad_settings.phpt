--TEST--
Numbers out of range and what is not a label leave the defaults
--EXTENSIONS--
mpmstat
--INI--
mpmstat.workers_limit=-1
mpmstat.processes=0
mpmstat.journal=99999999999
mpmstat.tenant_labels=1025
mpmstat.label=two words
--FILE--
<?php
foreach (['workers_limit', 'processes', 'journal', 'tenant_labels', 'label'] as $name)
    var_dump(ini_get("mpmstat.$name"));
var_dump(ini_set('mpmstat.label', 'mine'));
?>
--EXPECT--
mpmstat: mpmstat.label must have 1 to 63 letters, digits and - _ . : /, not be "two words": it is left as it was
string(1) "0"
string(4) "1024"
string(1) "0"
string(1) "8"
string(0) ""
bool(false)
