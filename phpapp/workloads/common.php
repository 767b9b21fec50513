<?php
// common.php - what every workload begins with: where it may run, its parameters,
// where its data is. Included by the workloads; does nothing when asked for itself.
declare(strict_types=1);

// Ends the request with a sentence. The sentences hold nothing of the client's.
function workload_refuse(int $status, string $sentence): void
{
    http_response_code($status);
    header('Content-Type: text/plain; charset=utf-8');
    header('X-Content-Type-Options: nosniff');
    echo $sentence, "\n";
    exit;
}

// A workload is a page that burns CPU or holds a worker for any client that asks. So it answers
// only where server and client are on this machine, unless the administrator says otherwise.
function workload_only_on_loopback(): void
{
    // PHP's own server (php -S) knows its address only as its name.
    $server = $_SERVER[PHP_SAPI === 'cli-server' ? 'SERVER_NAME' : 'SERVER_ADDR'] ?? '';
    $addresses = [$server, $_SERVER['REMOTE_ADDR'] ?? '', ...workload_forwarded_for()];
    if (array_filter($addresses, 'workload_is_loopback') === $addresses
        || getenv('MPMSTAT_WORKLOADS_ANYWHERE') === '1') {
        return;
    }
    workload_refuse(403, 'This workload serves only on a loopback address, and behind a proxy only clients '
        . 'that have one. Elsewhere anybody could load the server with it: set the environment variable '
        . 'MPMSTAT_WORKLOADS_ANYWHERE=1 (SetEnv in Apache) if that is meant.');
}

function workload_is_loopback(string $address): bool
{
    return preg_match('/^(127(\.\d+){3}|::1|::ffff:127(\.\d+){3})$/Di', $address) === 1;
}

// Returns the clients for which a reverse proxy on this machine asks, from the headers of the
// request: the proxy's own address is a loopback one, whatever its client's is. A word that is no
// address, such as "unknown", counts as an address that is not loopback.
function workload_forwarded_for(): array
{
    $found = explode(',', ($_SERVER['HTTP_X_FORWARDED_FOR'] ?? '') . ','
        . ($_SERVER['HTTP_X_REAL_IP'] ?? ''));
    foreach (preg_split('/[,;]/', $_SERVER['HTTP_FORWARDED'] ?? '') as $pair) {
        if (preg_match('/^\s*for\s*=(.*)$/Dis', $pair, $value)) {
            $found[] = $value[1];
        }
    }
    return array_values(array_filter(array_map('workload_bare_address', $found), 'strlen'));
}

// An address as headers have it, without quotes, brackets and port.
function workload_bare_address(string $text): string
{
    return preg_replace('/^"?(?:\[([^\]]+)\]|([\d.]+))(:\d+)?"?$/D', '$1$2', trim($text));
}

// Refuses parameters that the workload does not have: a misspelt one would
// silently measure the default.
function workload_only_parameters(string ...$names): void
{
    if (array_diff(array_map('strval', array_keys($_GET)), $names)) {
        workload_refuse(400, 'There is a parameter that this workload does not have; it has: '
            . implode(', ', $names) . '.');
    }
}

// The decimal number in parameter $name, or $default where it is not given.
function workload_number(string $name, float $default, float $min, float $max, int $decimals): float
{
    if (!isset($_GET[$name])) {
        return $default;
    }
    $text = $_GET[$name];
    $pattern = $decimals > 0 ? '/^\d{1,12}(\.\d{1,' . $decimals . '})?$/D' : '/^\d{1,12}$/D';
    if (!is_string($text) || !preg_match($pattern, $text) || $text < $min || $text > $max) {
        workload_refuse(400, "The parameter $name should be a number from $min to $max"
            . ($decimals > 0 ? " with at most $decimals decimals." : ' without decimals.'));
    }
    return (float)$text;
}

// A whole number, as above.
function workload_integer(string $name, int $default, int $min, int $max): int
{
    return (int)workload_number($name, $default, $min, $max, 0);
}

// The text in parameter $name, '' where it is not given: UTF-8 without control characters.
function workload_text(string $name, int $longest): string
{
    $text = $_GET[$name] ?? '';
    if (!is_string($text) || !workload_is_text($text, $longest, false)) {
        workload_refuse(400, "The parameter $name should be a text of at most $longest bytes of "
            . 'UTF-8, without control characters.');
    }
    return $text;
}

function workload_is_text(string $text, int $longest, bool $lines): bool
{
    return strlen($text) <= $longest
        && preg_match($lines ? '/^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$/Du' : '/^[^\x00-\x1f\x7f]*$/Du', $text);
}

// The directory that a workload may write into, and the only one: the environment
// variable MPMSTAT_WORKLOADS_DATA names it. Without that it is one below the system's
// temporary directory for each user, made here, closed to all others: code is in it.
function workload_data_directory(): string
{
    $directory = (string)getenv('MPMSTAT_WORKLOADS_DATA');
    if ($directory !== '') {
        workload_check_directory($directory, 0002, 'not writable for everybody');
        return $directory;
    }
    if (!function_exists('posix_geteuid')) {
        workload_refuse(500, 'This workload keeps files: MPMSTAT_WORKLOADS_DATA should name a '
            . 'directory for them (PHP has no posix extension to tell one user from another).');
    }
    $directory = sys_get_temp_dir() . '/mpmstat-workloads-' . posix_geteuid();
    @mkdir($directory, 0700);
    workload_check_directory($directory, 0077, 'of this user and closed to all others');
    if (fileowner($directory) !== posix_geteuid()) {
        workload_refuse(500, 'The workloads\' directory in the temporary directory is another '
            . 'user\'s: remove it, or set MPMSTAT_WORKLOADS_DATA to a directory of your own.');
    }
    return $directory;
}

function workload_check_directory(string $directory, int $forbidden, string $what): void
{
    clearstatcache();
    $found = $directory[0] === '/' ? @lstat($directory) : false;
    if (!$found || ($found['mode'] & 0170000) !== 0040000 || ($found['mode'] & $forbidden)) {
        workload_refuse(500, 'The workloads\' data directory should exist, have an absolute path, be '
            . "no symbolic link, and be $what. It is what MPMSTAT_WORKLOADS_DATA names, or without "
            . 'that mpmstat-workloads-UID in the temporary directory.');
    }
}

// Makes $name in the data directory by calling $build with a private path in the same
// directory, if it is not there yet. However many requests come first, one
// builds and the others wait; a build that was interrupted leaves no half of it.
function workload_prepare(string $directory, string $name, callable $build): string
{
    $path = "$directory/$name";
    if (file_exists($path)) {
        return $path;
    }
    $lock = @fopen("$directory/lock", 'c');
    if (!$lock || !flock($lock, LOCK_EX)) {
        workload_refuse(500, 'The workloads\' data directory should be writable for the user that '
            . 'PHP runs as: it could not make its lock file there.');
    }
    clearstatcache();
    if (!file_exists($path)) {
        $private = "$path.new-" . getmypid();
        workload_remove(glob("$path.new-*"));
        $build($private);
        if (!rename($private, $path)) {
            workload_refuse(500, 'The workload could not rename what it built in its data directory.');
        }
    }
    fclose($lock);
    return $path;
}

// Removes files, and directories with the files in them.
function workload_remove(array $paths): void
{
    foreach ($paths as $path) {
        if (is_dir($path) && !is_link($path)) {
            workload_remove(glob("$path/*"));
            rmdir($path);
        } else {
            unlink($path);
        }
    }
}

// Waits until hrtime() is $end_ns, without CPU, and never less: a signal can end usleep() early.
function workload_wait_until(int $end_ns): void
{
    while (($left_ns = $end_ns - hrtime(true)) > 0) {
        usleep(intdiv($left_ns, 1000) + 1);
    }
}
