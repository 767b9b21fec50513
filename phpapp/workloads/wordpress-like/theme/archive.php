<?php
// archive.php - the posts of a term, an author or a month.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
<h1><?= View::$query['title'] ?></h1>
<?php
foreach (View::$query['posts'] as $post) {
    template('excerpt', $post);
}
echo pagination();
