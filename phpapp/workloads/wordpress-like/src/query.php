<?php
// query.php - the main query: the posts that a request shows.
declare(strict_types=1);

// posts: those to show; found: how many there are on all pages; title: of the list;
// comments, for a single post. null: there is nothing of that name.
function main_query(array $request): ?array
{
    if ($request['view'] === 'single') {
        return single_query($request);
    }
    [$title, $from, $where, $values] = list_conditions($request);
    if ($title === null) {
        return null;
    }
    $size = (int)get_option($request['view'] === 'feed' ? 'posts_in_feed' : 'posts_per_page', 10);
    $sql = "FROM wl_posts p $from WHERE p.kind = 'post' AND p.status = 'publish' $where";
    $found = (int)Database::value("SELECT COUNT(*) $sql", $values);
    $ids = array_map('intval', array_column(Database::rows(
        "SELECT p.id $sql ORDER BY p.published DESC, p.id DESC LIMIT ? OFFSET ?",
        array_merge($values, [$size, ($request['page'] - 1) * $size])), 'id'));
    if (!$ids && $request['page'] > 1) {
        return null;
    }
    $posts = apply_filters('the_posts', get_posts_by_id(with_sticky($request, $ids)));
    read_for_posts($posts);
    return ['posts' => $posts, 'found' => $found, 'pages' => (int)ceil($found / $size), 'title' => $title];
}

// Posts that are to stay on top of the first front page.
function with_sticky(array $request, array $ids): array
{
    $sticky = $request['view'] === 'front' && $request['page'] === 1
        ? array_map('intval', get_option('sticky_posts', [])) : [];
    return array_values(array_unique(array_merge(array_intersect($sticky, $ids), $ids)));
}

function single_query(array $request): ?array
{
    $post = get_post($request['id']);
    if (!is_shown($post) || ($request['by'] === 'page_id') !== ($post['kind'] === 'page')) {
        return null;
    }
    read_for_posts([$post]);
    return ['posts' => [$post], 'found' => 1, 'pages' => 1, 'title' => the_title_of($post),
        'comments' => comments_of($post['id'])];
}

// [title of the list, what to join, conditions, their values]; a null title: no such list.
function list_conditions(array $request): array
{
    switch ($request['view']) {
        case 'term':
            $term = get_term($request['id']);
            $fits = $term && $term['taxonomy'] === ($request['by'] === 'cat' ? 'category' : 'tag');
            return [$fits ? esc_html($term['name']) : null,
                'JOIN wl_term_posts tp ON tp.post_id = p.id', 'AND tp.term_id = ?', [$request['id']]];
        case 'author':
            return [get_user($request['id']) ? esc_html(author_name($request['id'])) : null, '',
                'AND p.author_id = ?', [$request['id']]];
        case 'month':
            $month = substr_replace((string)$request['id'], '-', 4, 0);
            return [esc_html(text(gmdate('F Y', (int)strtotime("$month-01 UTC")))), '',
                'AND SUBSTR(p.published, 1, 7) = ?', [$month]];
        case 'search':
            return search_conditions($request['text']);
        default:
            return ['', '', '', []];
    }
}

// Every word somewhere in title or content.
function search_conditions(string $text): array
{
    $where = '';
    $values = [];
    foreach (array_slice(preg_split('/\s+/u', $text, -1, PREG_SPLIT_NO_EMPTY), 0, 8) as $word) {
        $where .= " AND (p.title LIKE ? ESCAPE '!' OR p.content LIKE ? ESCAPE '!')";
        $pattern = '%' . strtr($word, ['!' => '!!', '%' => '!%', '_' => '!_']) . '%';
        array_push($values, $pattern, $pattern);
    }
    return [text('Search results for:') . ' &#8220;' . esc_html($text) . '&#8221;', '', $where, $values];
}
