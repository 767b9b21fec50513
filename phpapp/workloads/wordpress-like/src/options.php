<?php
// options.php - the blog's options: those marked autoload come with one query at the
// start, others with one each when somebody asks.
declare(strict_types=1);

if (!defined('APPLICATION_FILES')) {
    exit;
}

final class Options
{
    private static array $values = [];

    // Whether they are there: the last thing that is written into a new blog is one of them.
    public static function load(): bool
    {
        try {
            $rows = Database::rows('SELECT name, value FROM wl_options WHERE autoload = 1');
        } catch (PDOException $error) {
            return false;
        }
        self::$values = array_column($rows, 'value', 'name');
        return isset(self::$values['seeded']);
    }

    // As it is stored: a string, or null.
    private static function stored(string $name): ?string
    {
        if (!array_key_exists($name, self::$values)) {
            self::$values[$name] =
                Database::value('SELECT value FROM wl_options WHERE name = ?', [$name]);
        }
        return self::$values[$name];
    }

    // Options that are lists are stored as JSON.
    public static function get(string $name, $default)
    {
        $stored = self::stored($name);
        if ($stored === null) {
            return apply_filters("default_option_$name", $default);
        }
        $value = $stored !== '' && ($stored[0] === '[' || $stored[0] === '{')
            ? json_decode($stored, true) : $stored;
        return apply_filters("option_$name", $value);
    }

    public static function names(): array
    {
        return array_keys(self::$values);
    }
}

function get_option(string $name, $default = '')
{
    return Options::get($name, $default);
}

// Settings of the library that are stored are checked before anybody asks for them.
add_action('loaded', static function (): void {
    foreach (array_intersect(Options::names(), array_keys(Registry::all('setting'))) as $name) {
        get_option($name);
    }
});
