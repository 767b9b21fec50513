<?php
// excerpt.php - a post in a list, its beginning.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
<article id="post-<?= (int)$with['id'] ?>" class="<?= post_classes($with) ?>">
<h2><a href="<?= post_link($with) ?>" rel="bookmark"><?= the_title_of($with) ?></a></h2>
<?= the_excerpt_of($with) ?>
<?php template('meta', $with) ?>
</article>
