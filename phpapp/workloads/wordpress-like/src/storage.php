<?php
// storage.php - what the application keeps: the generated library and the SQLite file in
// the data directory, or the tables in a MariaDB. Each is made by the first request, once.
declare(strict_types=1);

// The library's directory: its name changes with the generator, so that an old one is
// never used by a newer application.
function prepare_library(string $directory): string
{
    $generator = dirname(__DIR__) . '/generate.php';
    $name = 'library-' . digest_of($generator);
    return workload_prepare($directory, $name, static function (string $private) use ($generator): void {
        require_once $generator;
        generate_library($private);
    });
}

function digest_of(string $file): string
{
    return substr(hash_file('sha256', $file), 0, 16);
}

function prepare_sqlite(string $directory): string
{
    if (!in_array('sqlite', PDO::getAvailableDrivers(), true)) {
        workload_refuse(500, 'This workload keeps its blog in SQLite, and PHP has no PDO driver for '
            . 'it: install php-sqlite3, or name a MariaDB in MPMSTAT_WORKLOADS_DSN.');
    }
    $seed = dirname(__DIR__) . '/seed.php';
    $name = 'blog-' . digest_of($seed) . '.sqlite';
    return workload_prepare($directory, $name, static function (string $private) use ($seed): void {
        require_once $seed;
        $connection = open_sqlite($private);
        $connection->exec('PRAGMA journal_mode = WAL');
        seed_blog($connection);
    });
}

function open_sqlite(string $path): PDO
{
    $connection = new PDO("sqlite:$path", null, null, [
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_TIMEOUT => 30]);
    $connection->exec('PRAGMA synchronous = NORMAL');
    return $connection;
}

function open_mariadb(string $dsn): PDO
{
    if (strncmp($dsn, 'mysql:', 6) !== 0 || stripos($dsn, 'charset=') !== false) {
        workload_refuse(500, 'MPMSTAT_WORKLOADS_DSN should begin with mysql: and name no charset; '
            . 'without it the workload keeps its blog in SQLite.');
    }
    if (!in_array('mysql', PDO::getAvailableDrivers(), true)) {
        workload_refuse(500, 'PHP has no PDO driver for MariaDB: install php-mysql.');
    }
    try {
        return new PDO("$dsn;charset=utf8mb4", (string)getenv('MPMSTAT_WORKLOADS_DB_USER'),
            (string)getenv('MPMSTAT_WORKLOADS_DB_PASSWORD'), [
                PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_TIMEOUT => 10]);
    } catch (PDOException $error) {
        error_log('wordpress-like: MPMSTAT_WORKLOADS_DSN: ' . $error->getMessage());
        workload_refuse(500, 'The database that MPMSTAT_WORKLOADS_DSN names could not be opened; '
            . 'PHP\'s error log has what it said.');
    }
}

// Tables that are there were not finished: seed_blog() begins again.
function seed_mariadb(PDO $connection): void
{
    $connection->query("SELECT GET_LOCK('mpmstat-wordpress-like', 60)")->fetchAll();
    if (!Options::load()) {
        require_once dirname(__DIR__) . '/seed.php';
        seed_blog($connection);
    }
    $connection->query("SELECT RELEASE_LOCK('mpmstat-wordpress-like')")->fetchAll();
}
