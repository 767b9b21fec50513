<?php
// cache.php - what this request has read already, by group and key. It lives as long as
// the request: nothing is shared between requests but the database.
declare(strict_types=1);

final class Cache
{
    private static array $groups = [];

    // The cached value, or what $find returns, which is cached from then on.
    public static function get(string $group, $key, callable $find)
    {
        if (!isset(self::$groups[$group]) || !array_key_exists($key, self::$groups[$group])) {
            self::$groups[$group][$key] = $find();
        }
        return self::$groups[$group][$key];
    }

    public static function put(string $group, $key, $value): void
    {
        self::$groups[$group][$key] = $value;
    }

    public static function has(string $group, $key): bool
    {
        return isset(self::$groups[$group][$key]);
    }
}
