<?php
// single.php - one post or page, its neighbours, its comments.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
<?php
$post = View::$query['posts'][0];
template('content', $post);
if ($post['kind'] === 'post') {
    template('neighbours', $post);
    template('comments', $post);
}
