<?php
// search.php - what a search found.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
<h1><?= View::$query['title'] ?></h1>
<p><?= esc_html(sprintf(text('%d found.'), View::$query['found'])) ?></p>
<?= search_form() ?>
<?php
foreach (View::$query['posts'] as $post) {
    template('excerpt', $post);
}
echo pagination();
