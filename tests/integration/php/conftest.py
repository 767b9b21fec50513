"""What several tests of PHP need."""
import pytest

import php


@pytest.fixture
def place(php_boards):
    """A directory for boards that everybody may write to, and one with a php.ini for it."""
    php_boards.chmod(0o1777)
    ini = php_boards / "ini"
    ini.mkdir()
    ini.chmod(0o755)
    php.write_ini(ini, php.settings(php_boards))
    return php_boards, ini
