<?php
// posts.php - posts, pages, attachments and menu items: one table, told apart by kind.
// What is shown of many of them is read for all at once.
declare(strict_types=1);

// Posts by id, in the order of $ids; read with one query where they are not cached.
function get_posts_by_id(array $ids): array
{
    $missing = array_filter($ids, static function (int $id): bool {
        return !Cache::has('post', $id);
    });
    foreach (Database::rows_of('SELECT * FROM wl_posts WHERE id', $missing) as $row) {
        $row['id'] = (int)$row['id'];
        Cache::put('post', $row['id'], apply_filters('post_row', $row));
    }
    $posts = [];
    foreach ($ids as $id) {
        $post = get_post($id);
        if ($post) {
            $posts[] = $post;
        }
    }
    return $posts;
}

// The post, or null.
function get_post(int $id): ?array
{
    return Cache::get('post', $id, static function () use ($id): ?array {
        $rows = Database::rows('SELECT * FROM wl_posts WHERE id = ?', [$id]);
        return $rows ? apply_filters('post_row', ['id' => $id] + $rows[0]) : null;
    });
}

function is_shown(?array $post): bool
{
    return $post !== null && $post['status'] === 'publish'
        && in_array($post['kind'], ['post', 'page'], true);
}

// Reads the meta values of the posts, for post_meta().
function read_post_meta(array $ids): void
{
    $meta = array_fill_keys($ids, []);
    foreach (Database::rows_of('SELECT post_id, name, value FROM wl_postmeta WHERE post_id', $ids,
            'ORDER BY id') as $row) {
        $meta[$row['post_id']][$row['name']] = $row['value'];
    }
    foreach ($meta as $id => $values) {
        Cache::put('postmeta', $id, $values);
    }
}

function post_meta(int $id, string $name): string
{
    if (!Cache::has('postmeta', $id)) {
        read_post_meta([$id]);
    }
    $values = Cache::get('postmeta', $id, static function (): array {
        return [];
    });
    return apply_filters('post_meta', $values[$name] ?? '', $id, $name);
}

// Reads what a list of posts needs besides the rows: terms, meta values, authors, pictures.
function read_for_posts(array $posts): void
{
    $ids = array_column($posts, 'id');
    read_post_terms($ids);
    read_post_meta($ids);
    read_users(array_unique(array_column($posts, 'author_id')));
    $pictures = [];
    foreach ($ids as $id) {
        $pictures[] = (int)post_meta($id, 'picture');
    }
    $pictures = array_values(array_filter(array_unique($pictures)));
    get_posts_by_id($pictures);
    if ($pictures) {
        read_post_meta($pictures);
    }
}

function recent_post_ids(int $count): array
{
    return array_map('intval', array_column(Database::rows(
        "SELECT id FROM wl_posts WHERE kind = 'post' AND status = 'publish'
         ORDER BY published DESC, id DESC LIMIT ?", [$count]), 'id'));
}

// The published post before or after one, or null.
function neighbour(array $post, bool $after): ?array
{
    $rows = Database::rows("SELECT id FROM wl_posts WHERE kind = 'post' AND status = 'publish'
        AND published " . ($after ? '> ? ORDER BY published' : '< ? ORDER BY published DESC') . ' LIMIT 1',
        [$post['published']]);
    return $rows ? get_post((int)$rows[0]['id']) : null;
}

// Month => number of posts, the newest first.
function months_with_posts(): array
{
    return array_column(Database::rows(
        "SELECT SUBSTR(published, 1, 7) AS month, COUNT(*) AS number FROM wl_posts
         WHERE kind = 'post' AND status = 'publish'
         GROUP BY SUBSTR(published, 1, 7) ORDER BY month DESC"), 'number', 'month');
}

function posts_by_author(): array
{
    return Database::rows("SELECT author_id, COUNT(*) AS number FROM wl_posts
        WHERE kind = 'post' AND status = 'publish' GROUP BY author_id ORDER BY author_id");
}
