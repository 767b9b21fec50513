"""The extension alone, as PIE builds it: the commands of PIE, on nothing but the sources."""
import json
import shutil
import subprocess

import pytest

import build
import php

PARTS = ["composer.json", "NEWS", "LICENSE", "lib", "phpapp/ext"]


def test_composer_json():
    """As "Extension maintainers" of PIE's documents has it."""
    composer = json.loads((build.SRCDIR / "composer.json").read_text())
    assert composer["type"] == "php-ext" and composer["name"].count("/") == 1
    assert set(composer["php-ext"]) <= {
        "extension-name", "build-path", "support-zts", "support-nts", "os-families", "priority",
        "configure-options", "download-url-method", "os-families-exclude"}
    assert (build.SRCDIR / composer["php-ext"]["build-path"] / "config.m4").exists()
    assert "version" not in composer, "tags say it"
    assert composer["license"] == "Apache-2.0"


@pytest.mark.skipif(not shutil.which("phpize"), reason="needs phpize (php-dev)")
@pytest.mark.skipif(php.why_not() is not None, reason=str(php.why_not()))
def test_phpize(tmp_path):
    source = tmp_path / "source of mpmstat".replace(" ", "-")
    for part in PARTS:
        target = source / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (build.SRCDIR / part).is_dir():
            shutil.copytree(build.SRCDIR / part, target)
        else:
            shutil.copy(build.SRCDIR / part, target)
    place = source / "phpapp/ext"
    config = shutil.which("php-config")
    # Without optimization, which takes most of the time; other tests have the optimized module.
    for words in (["phpize"], ["./configure", f"--with-php-config={config}", "CFLAGS=-O0 -g"],
                  ["make", "-j2"],
                  ["make", "install", f"INSTALL_ROOT={tmp_path}/root"]):
        done = subprocess.run(words, cwd=place, text=True, capture_output=True, timeout=300)
        assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        assert " warning: unused" not in done.stderr
    module, = (tmp_path / "root").rglob("mpmstat.so")
    binary = subprocess.run([config, "--php-binary"], text=True, capture_output=True,
                            check=True).stdout.strip()
    said = subprocess.run([binary, "-n", "-d", f"extension={module}", "--ri", "mpmstat"], text=True,
                          capture_output=True, check=True).stdout
    version = (build.SRCDIR / "NEWS").read_text().split()[1]
    assert f"mpmstat => {version}" in said and "recording => off" in said
    exported = subprocess.run(["nm", "-D", "--defined-only", module], text=True, capture_output=True,
                              check=True).stdout.split()
    assert [word for word in exported if word.startswith(("get_module", "mst_"))] == ["get_module"]
