"""What configure decides about the build."""
import os
import shlex
import shutil
import subprocess

import pytest

import build
import tool

PREDEFINES = """#!/bin/sh
# A compiler that predefines it, as those of some distributions do.
exec {} -D_FORTIFY_SOURCE=3 "$@"
"""


def settings(tmp_path, **variables):
    """Returns the environment of a build, without the compiler flags of this process."""
    kept = {name: value for name, value in os.environ.items()
            if name not in ("CC", "CPPFLAGS", "CFLAGS", "LDFLAGS", "MAKEFLAGS", "MFLAGS")}
    return {**kept, **variables}


def fortified(directory, environment):
    """The level at which `make` there compiles; None: not at all."""
    flags = subprocess.run(
        ["make", "-s", "--eval",
         "show-flags:\n\t@echo $(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS)",
         "show-flags"], cwd=directory, env=environment, text=True, stdout=subprocess.PIPE,
        check=True).stdout
    macros = subprocess.run([*shlex.split(flags), "-Werror", "-dM", "-E", "-x", "c", "/dev/null"],
                            cwd=directory, text=True, stdout=subprocess.PIPE, check=True).stdout
    levels = [line.split()[2] for line in macros.splitlines()
              if line.startswith("#define _FORTIFY_SOURCE ")]
    return levels[0] if levels else None


@pytest.mark.parametrize("who, variables, level", [
    ("nobody", {}, "2"),
    ("the distribution", {"CPPFLAGS": "-D_FORTIFY_SOURCE=3"}, "3"),
    ("the compiler", {"CC": "predefines"}, "3"),
    ("who debugs", {"CFLAGS": "-O0 -g"}, None)])
def test_fortification_is_never_lowered(tmp_path, who, variables, level):
    gcc = shutil.which("gcc")
    if "CC" in variables:
        if not gcc:
            pytest.skip("needs gcc")
        compiler = tmp_path / "predefines"
        compiler.write_text(PREDEFINES.format(gcc))
        compiler.chmod(0o755)
        variables = {"CC": str(compiler)}
    environment = settings(tmp_path, **variables)
    directory = tmp_path / "build"
    directory.mkdir()
    done = subprocess.run([str(build.SRCDIR / "configure"), "--quiet", "--without-php"],
                          cwd=directory, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    assert fortified(directory, environment) == level


def test_what_is_missing_is_named_with_its_package(tmp_path):
    """All that is missing at once, each with the package of Debian that has it."""
    environment = settings(tmp_path, PKG_CONFIG_LIBDIR=str(tmp_path))
    done = subprocess.run([str(build.SRCDIR / "configure"), "--quiet", "--without-php",
                           "--with-chart-js=/nonexistent/chart.js"],
                          cwd=tmp_path, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode != 0 and "these are needed and were not found:" in done.stdout
    for package in ("libapr1-dev", "libcurl4-openssl-dev", "libjansson-dev", "libsqlite3-dev",
                    "libjs-chart.js"):
        assert f"apt-get install {package}" in done.stdout, done.stdout


def test_the_lab_is_there_or_says_that_it_was_left_out():
    done = tool.run("lab", "list")
    if build.LAB:
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode == 2 and "--without-lab" in done.stderr


def test_without_pkg_config_it_names_the_package(tmp_path):
    """Not the libraries, which are perhaps there: it could not look."""
    done = subprocess.run([str(build.SRCDIR / "configure"), "--quiet"],
                          cwd=tmp_path, env=settings(tmp_path, PATH=path_without(tmp_path)),
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode != 0 and "(Debian: pkgconf)" in done.stdout, done.stdout
    assert "libcurl" not in done.stdout


def path_without(tmp_path):
    """A PATH with all programs but pkg-config."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for directory in reversed(os.environ["PATH"].split(":")):
        for program in os.scandir(directory) if os.path.isdir(directory) else ():
            if "pkg-config" not in program.name and "pkgconf" not in program.name:
                (programs / program.name).unlink(missing_ok=True)
                (programs / program.name).symlink_to(program.path)
    return str(programs)
