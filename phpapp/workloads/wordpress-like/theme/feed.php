<?php
// feed.php - the newest posts as RSS 2.0.
declare(strict_types=1);
if (!defined('APPLICATION_FILES')) {
    exit;
}
?>
<?= '<?xml version="1.0" encoding="UTF-8"?>', "\n" ?>
<rss version="2.0">
<channel>
<title><?= blog_info('name') ?></title>
<link><?= page_link([]) ?></link>
<description><?= blog_info('description') ?></description>
<?php foreach (View::$query['posts'] as $post) { ?>
<item>
<title><?= the_title_of($post) ?></title>
<link><?= post_link($post) ?></link>
<guid isPermaLink="false">post-<?= (int)$post['id'] ?></guid>
<pubDate><?= esc_html(gmdate('r', (int)strtotime($post['published'] . ' UTC'))) ?></pubDate>
<description><?= esc_html(the_content_of($post)) ?></description>
</item>
<?php } ?>
</channel>
</rss>
