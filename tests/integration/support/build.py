"""Where the module and the tool under test are, and the system's own programs.

`make check` sets MPMSTAT_BUILDDIR and MPMSTAT_SRCDIR. By hand, the source is
the checkout that this file is in, and the build is there too.
"""
import os
import shutil
import subprocess
from pathlib import Path

SRCDIR = Path(os.environ.get("MPMSTAT_SRCDIR") or Path(__file__).parents[3]).resolve()
BUILDDIR = Path(os.environ.get("MPMSTAT_BUILDDIR") or SRCDIR).resolve()

MODULE = BUILDDIR / ".libs" / "mod_mpmstat.so"
TOOL = BUILDDIR / "mpmstat"
WORKLOADS = SRCDIR / "phpapp" / "workloads"

PATH = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
APACHE = os.environ.get("APACHE2", "apache2")
APACHE_MODULES = Path(os.environ.get("APACHE2_MODULES", "/usr/lib/apache2/modules"))


def newest(directory, pattern):
    """The last file of that pattern, by version: php-fpm8.2 after php-fpm7.4."""
    found = sorted(Path(directory).glob(pattern))
    return str(found[-1]) if found else None


FPM = os.environ.get("PHP_FPM") or newest("/usr/sbin", "php-fpm*")
MOD_PHP = os.environ.get("MOD_PHP") or newest(APACHE_MODULES, "libphp*.so")


# False: configured --without-lab.
LAB = os.environ.get("MPMSTAT_LAB_BUILT", "yes") != "no"

SANITIZE = os.environ.get("MPMSTAT_SANITIZE", "") not in ("", "0", "no")
SANITIZE_ADDRESS = "address" in os.environ.get("MPMSTAT_SANITIZE", "")


def find(program):
    """The program's full path, or None: system directories before the PATH."""
    return shutil.which(program, path=PATH) or shutil.which(program)


def sanitizer_environment():
    """What a program that loads a module built with sanitizers needs. They report
    on stderr: Apache's is its error log, which its children may always write."""
    if not SANITIZE:
        return {}
    library = os.environ.get("MPMSTAT_SANITIZE_LIB") or subprocess.check_output(
        ["gcc", "-print-file-name=libasan.so"], text=True).strip()
    # mod_php loads its extensions with RTLD_DEEPBIND, which ASan refuses: it gets none.
    return {"LD_PRELOAD": library, "PHP_INI_SCAN_DIR": "",
            "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0:handle_segv=1",
            "UBSAN_OPTIONS": "print_stacktrace=1"}


def php_sanitizer_environment(reports):
    """The same for a PHP program that loads the extension. It reports to files whose names
    begin with the path `reports`: what FPM's workers say is nobody's to read."""
    found = sanitizer_environment()
    if not found:
        return {}
    del found["PHP_INI_SCAN_DIR"]
    shallow_bind = BUILDDIR / "tests" / "integration" / "support" / ".libs" / "shallow_bind.so"
    found["LD_PRELOAD"] = f"{shallow_bind}:{found['LD_PRELOAD']}"
    for options in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        found[options] += f":log_path={reports}"
    return found
