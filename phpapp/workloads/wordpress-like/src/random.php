<?php
// random.php - a small generator of pseudo-random numbers: the same seed gives the same
// library and the same blog on every machine and with every PHP.
declare(strict_types=1);

final class Random
{
    private int $state;

    public function __construct(int $seed)
    {
        $this->state = $seed % 2147483646 + 1;
    }

    // From $min to $max. (The generator is MINSTD's: x = 48271 x mod 2^31 - 1.)
    public function between(int $min, int $max): int
    {
        $this->state = $this->state * 48271 % 2147483647;
        return $min + intdiv($this->state * ($max - $min + 1), 2147483647);
    }

    // One of a list.
    public function one(array $list)
    {
        return $list[$this->between(0, count($list) - 1)];
    }

    // $count different ones of a list, in a random order.
    public function some(array $list, int $count): array
    {
        for ($chosen = []; count($chosen) < $count && $list; ) {
            $chosen[] = array_splice($list, $this->between(0, count($list) - 1), 1)[0];
        }
        return $chosen;
    }
}
