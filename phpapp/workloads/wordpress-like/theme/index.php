<?php
// index.php - the front page: the newest posts in full.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
<p class="note"><?= esc_html(get_option('front_note')) ?></p>
<?php
foreach (View::$query['posts'] as $post) {
    template('content', $post);
}
echo pagination();
