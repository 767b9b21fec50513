--TEST--
mpmstat_mark() takes any string, says nothing, and wants exactly one
--EXTENSIONS--
mpmstat
--FILE--
<?php
declare(strict_types=1);   // without it PHP 7 only warns
var_dump(mpmstat_mark('step'), mpmstat_mark(''), mpmstat_mark(str_repeat('x', 100000)),
         mpmstat_mark("with\0NUL and \xff"));
for ($i = 0; $i < 1000; $i++)
    mpmstat_mark("step $i");
foreach ([[], [[]], ['a', 'b']] as $arguments) {
    try {
        mpmstat_mark(...$arguments);
        echo "taken\n";
    } catch (Error $error) {
        echo get_class($error), "\n";
    }
}
?>
--EXPECT--
NULL
NULL
NULL
NULL
ArgumentCountError
TypeError
ArgumentCountError
