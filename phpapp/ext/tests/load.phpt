--TEST--
The extension loads, and has its one function as the stub file says
--EXTENSIONS--
mpmstat
--FILE--
<?php
var_dump(extension_loaded('mpmstat'), preg_match('/^\d+\.\d+\.\d+$/', phpversion('mpmstat')));
var_dump((new ReflectionExtension('mpmstat'))->getFunctions() === [] ? 0 : 1);
$mark = new ReflectionFunction('mpmstat_mark');
$parameter = $mark->getParameters()[0];
echo $parameter->getType()->getName(), ' $', $parameter->getName(), ': ',
     $mark->getReturnType()->getName(), ' ', $mark->getNumberOfParameters(), "\n";
?>
--EXPECT--
bool(true)
int(1)
int(1)
string $name: void 1
