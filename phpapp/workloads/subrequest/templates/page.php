<?php
// page.php - the page around its blocks.
declare(strict_types=1);
if (!isset($view)) {
    exit;
}
?>
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title><?= $view->escape($with['title']) ?></title>
</head>
<body>
<h1><?= $view->escape($with['title']) ?></h1>
<?php foreach ($with['numbers'] as $number) { ?>
<?= $view->block(1, $number, $with['query']) ?>
<?php } ?>
</body>
</html>
