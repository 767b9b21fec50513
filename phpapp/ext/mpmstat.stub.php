<?php

/** Marks a step of the present request: its name (cut to 39 bytes) and time go to the
 * board's journal. At most 64 a request; no error where nothing is recorded. */
function mpmstat_mark(string $name): void {}
