<?php
// common.php - what every workload begins with: where it may run, and its
// parameters. Included by the workloads; does nothing when asked for itself.
declare(strict_types=1);

// Ends the request with a sentence. The sentences hold nothing of the client's.
function workload_refuse(int $status, string $sentence): never
{
    http_response_code($status);
    header('Content-Type: text/plain; charset=utf-8');
    header('X-Content-Type-Options: nosniff');
    echo $sentence, "\n";
    exit;
}

// A workload is a page that burns CPU or holds a worker for whoever asks: only
// for the machine itself, unless the administrator says otherwise.
function workload_only_on_loopback(): void
{
    // PHP's own server (php -S) knows its address only as its name.
    $address = (string)($_SERVER[PHP_SAPI === 'cli-server' ? 'SERVER_NAME' : 'SERVER_ADDR'] ?? '');
    if (preg_match('/^(127(\.\d+){3}|::1|::ffff:127(\.\d+){3})$/Di', $address)
        || getenv('MPMSTAT_WORKLOADS_ANYWHERE') === '1') {
        return;
    }
    workload_refuse(403, 'This workload serves only on a loopback address. Elsewhere anybody could '
        . 'load the server with it: set the environment variable MPMSTAT_WORKLOADS_ANYWHERE=1 '
        . '(SetEnv in Apache) if that is meant.');
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
