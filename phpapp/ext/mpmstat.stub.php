<?php

/** Marks a step of the present request: its name (cut to 39 bytes) and the time go to the board's
 * journal. At most 64 marks of a request are recorded. Not an error where nothing is recorded. */
function mpmstat_mark(string $name): void {}
