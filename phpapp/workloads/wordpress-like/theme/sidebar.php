<?php
// sidebar.php - the widgets, after the content.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
</main>
<aside>
<?= render_sidebar() ?>
</aside>
