<?php
// hooks.php - filters and actions: named places where any part of the application, of
// the library or of the theme puts functions of its own.
declare(strict_types=1);

final class Hooks
{
    private static array $callbacks = [];  // name => priority => list of callables
    private static array $sorted = [];     // name => true where its priorities are in order

    public static function add(string $name, callable $callback, int $priority): void
    {
        self::$callbacks[$name][$priority][] = $callback;
        unset(self::$sorted[$name]);
    }

    public static function has(string $name): bool
    {
        return isset(self::$callbacks[$name]);
    }

    // The value as all filters of that name leave it, each given the one before's.
    public static function apply(string $name, $value, array $arguments)
    {
        if (!isset(self::$callbacks[$name])) {
            return $value;
        }
        foreach (self::in_order($name) as $callbacks) {
            foreach ($callbacks as $callback) {
                $value = $callback($value, ...$arguments);
            }
        }
        return $value;
    }

    public static function run(string $name, array $arguments): void
    {
        if (!isset(self::$callbacks[$name])) {
            return;
        }
        foreach (self::in_order($name) as $callbacks) {
            foreach ($callbacks as $callback) {
                $callback(...$arguments);
            }
        }
    }

    private static function in_order(string $name): array
    {
        if (!isset(self::$sorted[$name])) {
            ksort(self::$callbacks[$name]);
            self::$sorted[$name] = true;
        }
        return self::$callbacks[$name];
    }
}

function add_filter(string $name, callable $callback, int $priority = 10): void
{
    Hooks::add($name, $callback, $priority);
}

function add_action(string $name, callable $callback, int $priority = 10): void
{
    Hooks::add($name, $callback, $priority);
}

function apply_filters(string $name, $value, ...$arguments)
{
    return Hooks::apply($name, $value, $arguments);
}

function do_action(string $name, ...$arguments): void
{
    Hooks::run($name, $arguments);
}

// A text for people, in the blog's language, had it a translation. Filters see every one
// of them, those of its domain once more.
function text(string $text, string $domain = 'default'): string
{
    return apply_filters("text_$domain", apply_filters('text', $text, $domain), $domain);
}
