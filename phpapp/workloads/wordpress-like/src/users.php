<?php
// users.php - the blog's authors.
declare(strict_types=1);

// Reads users and their meta values, for get_user() and user_meta().
function read_users(array $ids): void
{
    foreach (Database::rows_of('SELECT * FROM wl_users WHERE id', $ids) as $row) {
        Cache::put('user', (int)$row['id'], $row);
    }
    foreach (Database::rows_of('SELECT user_id, name, value FROM wl_usermeta WHERE user_id', $ids) as $row) {
        Cache::put('usermeta', $row['user_id'] . '/' . $row['name'], $row['value']);
    }
}

// The user, or null.
function get_user(int $id): ?array
{
    return Cache::get('user', $id, static function () use ($id): ?array {
        return Database::rows('SELECT * FROM wl_users WHERE id = ?', [$id])[0] ?? null;
    });
}

function user_meta(int $id, string $name): string
{
    return Cache::get('usermeta', "$id/$name", static function () use ($id, $name): string {
        return (string)Database::value('SELECT value FROM wl_usermeta WHERE user_id = ? AND name = ?',
            [$id, $name]);
    });
}

function author_name(int $id): string
{
    $user = get_user($id);
    return apply_filters('author_name', $user['name'] ?? text('Unknown'), $id);
}
