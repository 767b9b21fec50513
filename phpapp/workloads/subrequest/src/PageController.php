<?php
// PageController.php - the page: which blocks it has.
declare(strict_types=1);

namespace Subrequest;

final class PageController
{
    public function show(int $blocks, int $depth, int $work): array
    {
        return ['title' => 'A page of blocks', 'numbers' => $blocks ? range(1, $blocks) : [],
            'query' => ['depth' => $depth, 'work' => $work]];
    }
}
