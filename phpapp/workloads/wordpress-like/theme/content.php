<?php
// content.php - a post in a list, in full.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
<article id="post-<?= (int)$with['id'] ?>" class="<?= post_classes($with) ?>">
<header>
<h2><a href="<?= post_link($with) ?>" rel="bookmark"><?= the_title_of($with) ?></a></h2>
<?= the_picture_of($with) ?>
</header>
<div class="content">
<?= the_content_of($with) ?>
</div>
<?php template('meta', $with) ?>
</article>
