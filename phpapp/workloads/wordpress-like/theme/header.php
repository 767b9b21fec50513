<?php
// header.php - everything up to the page's own content.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title><?= View::$query['title'] === '' ? '' : View::$query['title'] . ' &#8211; ' ?>
<?= blog_info('name') ?></title>
<link rel="alternate" type="application/rss+xml" title="<?= blog_info('name') ?>"
href="<?= page_link(['feed' => 'rss2']) ?>">
<?= Styles::print_all() ?>
<?php do_action('head') ?>
</head>
<body class="<?= body_classes() ?>">
<header class="site">
<p class="name"><a href="<?= blog_path() ?>" rel="home"><?= blog_info('name') ?></a></p>
<p><?= blog_info('description') ?></p>
<nav class="menu">
<ul>
<?php foreach (menu_items('main') as [$title, $link]) { ?>
<li><a href="<?= $link ?>"><?= $title ?></a></li>
<?php } ?>
</ul>
</nav>
</header>
<main>
