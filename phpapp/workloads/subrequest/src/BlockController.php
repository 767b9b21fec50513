<?php
// BlockController.php - one block: its entries, and the block inside of it while there
// are levels left.
declare(strict_types=1);

namespace Subrequest;

final class BlockController
{
    private const SHOWN = 5;

    private Catalogue $catalogue;

    public function __construct(Catalogue $catalogue)
    {
        $this->catalogue = $catalogue;
    }

    public function show(Request $request, int $level, int $number, int $depth, int $work): array
    {
        $entries = $this->catalogue->entries($level * 100000 + $number, $work);
        return ['title' => "Block $number of level $level", 'locale' => $request->locale,
            'count' => count($entries), 'entries' => array_slice($entries, 0, self::SHOWN),
            'inner' => $level < $depth ? [$level + 1, $number, ['depth' => $depth, 'work' => $work]] : null];
    }
}
