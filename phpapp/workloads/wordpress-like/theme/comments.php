<?php
// comments.php - a post's comments, and the form for another.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
<section id="comments">
<h2><?= comment_count_text($with) ?></h2>
<ol>
<?php foreach (View::$query['comments'] as $comment) {
    echo comment_html($comment);
} ?>
</ol>
<form method="post" action="<?= post_link($with) ?>">
<p><label><?= esc_html(text('Name')) ?>
<input name="author" required maxlength="<?= COMMENT_FIELDS['author'] ?>"></label></p>
<p><label><?= esc_html(text('Mail')) ?>
<input name="email" type="email" maxlength="<?= COMMENT_FIELDS['email'] ?>"></label></p>
<p><label><?= esc_html(text('Address')) ?>
<input name="url" type="url" maxlength="<?= COMMENT_FIELDS['url'] ?>"></label></p>
<p><label><?= esc_html(text('Comment')) ?>
<textarea name="text" required maxlength="<?= COMMENT_FIELDS['text'] ?>"></textarea></label></p>
<p><button><?= esc_html(text('Send')) ?></button></p>
</form>
</section>
