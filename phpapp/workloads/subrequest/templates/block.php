<?php
// block.php - one block: its entries, and the block inside of it.
declare(strict_types=1);
if (!isset($view)) {
    exit;
}
?>
<section lang="<?= $view->escape($with['locale']) ?>">
<h2><?= $view->escape($with['title']) ?></h2>
<?php if ($with['entries']) { ?>
<p><?= (int)$with['count'] ?> entries</p>
<ul>
<?php foreach ($with['entries'] as $entry) { ?>
<li id="e<?= $view->escape($entry['key']) ?>"><?= $view->escape($entry['title']) ?>:
 <?= $view->escape($entry['price']) ?></li>
<?php } ?>
</ul>
<?php }
if ($with['inner']) {
    echo $view->block(...$with['inner']);
} ?>
</section>
