<?php
// NotFound.php - no route has this path.
declare(strict_types=1);

namespace Subrequest;

final class NotFound extends \RuntimeException
{
}
