<?php
// meta.php - when, by whom, and about what a post is.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
<footer class="meta">
<p><?= esc_html(text('Published')) ?> <?= the_time_of($with) ?>
<?= esc_html(text('by')) ?> <?= the_author_of($with) ?></p>
<p><?= esc_html(text('In')) ?> <?= the_terms_of($with, 'category') ?>;
<?= esc_html(text('about')) ?> <?= the_terms_of($with, 'tag') ?></p>
<p><a href="<?= post_link($with) ?>#comments"><?= comment_count_text($with) ?></a></p>
</footer>
