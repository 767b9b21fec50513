<?php
// menus.php - the navigation menu: its items are posts of the kind menu_item.
declare(strict_types=1);

// [title, link] of each item.
function menu_items(string $slug): array
{
    $menu = Database::rows("SELECT * FROM wl_terms WHERE taxonomy = 'menu' AND slug = ?", [$slug])[0] ?? null;
    if (!$menu) {
        return [];
    }
    $items = Database::rows("SELECT p.* FROM wl_posts p JOIN wl_term_posts tp ON tp.post_id = p.id
        WHERE tp.term_id = ? AND p.kind = 'menu_item' ORDER BY p.menu_order", [$menu['id']]);
    $ids = array_map('intval', array_column($items, 'id'));
    read_post_meta($ids);
    $targets = array_map(static function (int $id): int {
        return (int)post_meta($id, 'target');
    }, $ids);
    get_posts_by_id(array_values(array_filter($targets)));
    $links = [];
    foreach ($targets as $target) {
        $page = $target ? get_post($target) : null;
        $links[] = $page ? [the_title_of($page), page_link(['page_id' => $page['id']])]
            : [text('Home'), page_link([])];
    }
    return apply_filters('menu_items', $links, $slug);
}
