<?php
// footer.php - everything after the sidebar.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
<footer class="site">
<p><?= blog_info('name') ?>: <?= blog_info('footer') ?></p>
<?php do_action('footer') ?>
</footer>
</body>
</html>
