<?php
// Catalogue.php - what blocks show: entries that are computed, always the same ones.
declare(strict_types=1);

namespace Subrequest;

final class Catalogue
{
    private const WORDS = ['anchor', 'beacon', 'cargo', 'deck', 'estuary', 'ferry', 'gangway', 'harbour', 'inlet',
        'jetty', 'keel', 'ledger', 'mooring', 'net', 'oar', 'pier'];

    // $count entries, the dearest first: formatting and sorting as for a list of a shop.
    public function entries(int $seed, int $count): array
    {
        $entries = [];
        $state = $seed + 1;
        for ($number = 0; $number < $count; $number++) {
            $state = $state * 48271 % 2147483647;
            $title = ucfirst(self::WORDS[$state % 16]) . ' & ' . self::WORDS[intdiv($state, 16) % 16];
            $entries[] = ['title' => $title, 'key' => substr(md5("$title $number"), 0, 8),
                'price' => number_format($state % 100000 / 100, 2, '.', ' '), 'order' => $state % 100000];
        }
        usort($entries, static function (array $a, array $b): int {
            return [$b['order'], $a['title']] <=> [$a['order'], $b['title']];
        });
        return $entries;
    }
}
