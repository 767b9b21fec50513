<?php
// database.php - the one connection to the database, SQLite or MariaDB: prepared
// statements only, and a count of them.
declare(strict_types=1);

final class Database
{
    private static PDO $connection;
    private static int $count = 0;

    // MPMSTAT_WORKLOADS_DSN names a MariaDB; without it a file in $directory is used.
    public static function open(string $directory): void
    {
        $dsn = (string)getenv('MPMSTAT_WORKLOADS_DSN');
        self::$connection = $dsn === '' ? open_sqlite(prepare_sqlite($directory))
            : open_mariadb($dsn);
        if (!Options::load()) {
            seed_mariadb(self::$connection);
            Options::load();
        }
    }

    // The rows that a statement gives, as arrays by column.
    public static function rows(string $sql, array $values = []): array
    {
        self::$count++;
        $statement = self::$connection->prepare($sql);
        foreach ($values as $index => $value) {
            $statement->bindValue($index + 1, $value,
                is_int($value) ? PDO::PARAM_INT : PDO::PARAM_STR);
        }
        $statement->execute();
        return $statement->columnCount() ? $statement->fetchAll(PDO::FETCH_ASSOC) : [];
    }

    // The only value of the first row, or null.
    public static function value(string $sql, array $values = [])
    {
        $rows = self::rows($sql, $values);
        return $rows ? current($rows[0]) : null;
    }

    // The rows for which $column is one of $ids, none where there are no ids.
    public static function rows_of(string $sql, array $ids, string $rest = ''): array
    {
        if (!$ids) {
            return [];
        }
        $marks = implode(', ', array_fill(0, count($ids), '?'));
        return self::rows("$sql IN ($marks) $rest", array_values($ids));
    }

    // Runs $write in one transaction, alone among the writers from its start on.
    public static function transaction(callable $write)
    {
        $sqlite = self::$connection->getAttribute(PDO::ATTR_DRIVER_NAME) === 'sqlite';
        self::$connection->exec($sqlite ? 'BEGIN IMMEDIATE' : 'START TRANSACTION');
        try {
            $result = $write();
            self::$connection->exec('COMMIT');
        } catch (Throwable $error) {
            self::$connection->exec('ROLLBACK');
            throw $error;
        }
        return $result;
    }

    public static function last_id(): int
    {
        return (int)self::$connection->lastInsertId();
    }

    public static function count(): int
    {
        return self::$count;
    }
}
