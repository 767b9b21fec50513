<?php
// 404.php - there is nothing of that name.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
<h1><?= View::$query['title'] ?></h1>
<p><?= esc_html(text('There is no such page. Perhaps a search helps.')) ?></p>
<?= search_form() ?>
