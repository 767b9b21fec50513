<?php
// comments.php - comments: shown, and written. What visitors write is kept as they sent
// it and escaped wherever it is shown.
declare(strict_types=1);

// Of the comments that visitors wrote on a post, so many are kept, the newest: under a
// load of comments neither the page nor the file grows for ever.
const VISITORS_COMMENTS_KEPT = 50;

const COMMENT_FIELDS = ['author' => 60, 'email' => 100, 'url' => 200, 'text' => 4000];

function comments_of(int $post_id): array
{
    return Database::rows('SELECT * FROM wl_comments WHERE post_id = ? ORDER BY published, id', [$post_id]);
}

function recent_comments(int $count): array
{
    $ids = array_column(Database::rows(
        'SELECT id FROM wl_comments ORDER BY published DESC, id DESC LIMIT ?', [$count]), 'id');
    $rows = array_column(Database::rows_of('SELECT * FROM wl_comments WHERE id', $ids), null, 'id');
    get_posts_by_id(array_values(array_unique(array_map(static function ($id) use ($rows): int {
        return (int)$rows[$id]['post_id'];
    }, $ids))));
    return array_map(static function ($id) use ($rows): array {
        return $rows[$id];
    }, $ids);
}

// The answer to a POST: a new comment and a redirection to it, or a sentence.
function receive_comment(array $request): void
{
    $post = $request['view'] === 'single' ? get_post($request['id']) : null;
    if (!is_shown($post) || $post['kind'] !== 'post') {
        workload_refuse(400, 'A comment is sent with POST to ?p=NUMBER, the number of a post.');
    }
    $comment = checked_comment();
    $id = Database::transaction(static function () use ($post, $comment): int {
        return insert_comment($post['id'], apply_filters('new_comment', $comment));
    });
    do_action('comment_written', $id);
    header('Location: ' . page_link(['p' => $post['id']]) . "#comment-$id", true, 303);
}

// The fields of the comment that was sent; whatever is wrong with them is a 400.
function checked_comment(): array
{
    if (array_diff(array_map('strval', array_keys($_POST)), array_keys(COMMENT_FIELDS))) {
        workload_refuse(400, 'A comment has these fields only: '
            . implode(', ', array_keys(COMMENT_FIELDS)) . '.');
    }
    $comment = [];
    foreach (COMMENT_FIELDS as $field => $longest) {
        $value = $_POST[$field] ?? '';
        if (!is_string($value) || !workload_is_text($value, $longest, $field === 'text')) {
            workload_refuse(400, "The field $field should be a text of at most $longest bytes of UTF-8.");
        }
        $comment[$field] = trim($value);
    }
    if ($comment['author'] === '' || $comment['text'] === '') {
        workload_refuse(400, 'A comment should have an author and a text.');
    }
    if ($comment['email'] !== '' && !filter_var($comment['email'], FILTER_VALIDATE_EMAIL)) {
        workload_refuse(400, 'The field email should be empty or a mail address.');
    }
    if ($comment['url'] !== '' && !preg_match('#^https?://[^\s<>"\']+$#D', $comment['url'])) {
        workload_refuse(400, 'The field url should be empty or a http: or https: address.');
    }
    return $comment;
}

function insert_comment(int $post_id, array $comment): int
{
    Database::rows('INSERT INTO wl_comments (post_id, author, email, url, content, published, visitor)
        VALUES (?, ?, ?, ?, ?, ?, 1)', [$post_id, $comment['author'], $comment['email'],
        $comment['url'], $comment['text'], gmdate('Y-m-d H:i:s')]);
    $id = Database::last_id();
    $oldest_kept = Database::value('SELECT id FROM wl_comments WHERE post_id = ? AND visitor = 1
        ORDER BY id DESC LIMIT 1 OFFSET ?', [$post_id, VISITORS_COMMENTS_KEPT - 1]);
    if ($oldest_kept !== null) {
        Database::rows('DELETE FROM wl_comments WHERE post_id = ? AND visitor = 1 AND id < ?',
            [$post_id, (int)$oldest_kept]);
    }
    Database::rows('UPDATE wl_posts SET comment_count =
        (SELECT COUNT(*) FROM wl_comments WHERE post_id = ?) WHERE id = ?', [$post_id, $post_id]);
    return $id;
}
