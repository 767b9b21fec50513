<?php
// terms.php - categories and tags, and which posts have them.
declare(strict_types=1);

// Reads the terms of the posts, for post_terms(), and the terms' own meta values.
function read_post_terms(array $ids): void
{
    $terms = array_fill_keys($ids, []);
    $seen = [];
    foreach (Database::rows_of('SELECT tp.post_id, t.* FROM wl_terms t
            JOIN wl_term_posts tp ON tp.term_id = t.id WHERE tp.post_id', $ids, 'ORDER BY t.name') as $row) {
        $terms[$row['post_id']][] = $row;
        $seen[(int)$row['id']] = true;
    }
    foreach ($terms as $id => $rows) {
        Cache::put('post_terms', $id, $rows);
    }
    foreach (Database::rows_of('SELECT term_id, name, value FROM wl_termmeta WHERE term_id',
            array_keys($seen)) as $row) {
        Cache::put('termmeta', $row['term_id'] . '/' . $row['name'], $row['value']);
    }
}

// A post's terms of one taxonomy.
function post_terms(int $id, string $taxonomy): array
{
    $all = Cache::get('post_terms', $id, static function () use ($id): array {
        read_post_terms([$id]);
        return Cache::get('post_terms', $id, static function (): array {
            return [];
        });
    });
    $terms = array_filter($all, static function (array $term) use ($taxonomy): bool {
        return $term['taxonomy'] === $taxonomy;
    });
    return apply_filters('post_terms', $terms, $id, $taxonomy);
}

function term_colour(array $term): string
{
    return Cache::get('termmeta', $term['id'] . '/colour', static function (): string {
        return '#336699';
    });
}

// The terms of a taxonomy that have posts, by name or the most used first.
function terms_with_posts(string $taxonomy, bool $by_use, int $count): array
{
    return Database::rows('SELECT * FROM wl_terms WHERE taxonomy = ? AND number > 0 ORDER BY '
        . ($by_use ? 'number DESC, name' : 'name') . ' LIMIT ?', [$taxonomy, $count]);
}

// The term, or null.
function get_term(int $id): ?array
{
    return Database::rows('SELECT * FROM wl_terms WHERE id = ?', [$id])[0] ?? null;
}

function term_link(array $term): string
{
    return page_link([$term['taxonomy'] === 'category' ? 'cat' : 'tag' => (int)$term['id']]);
}
