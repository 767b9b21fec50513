<?php
// neighbours.php - links to the post before and the post after.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
<nav class="neighbours">
<?php foreach ([[false, 'Previous:'], [true, 'Next:']] as [$after, $label]) {
    $other = neighbour($with, $after);
    if ($other) { ?>
<p><?= esc_html(text($label)) ?> <a href="<?= post_link($other) ?>"><?= the_title_of($other) ?></a></p>
<?php }
} ?>
</nav>
