"""The library is loaded if it was built from the source next to it, and else passed over."""

import shutil
import subprocess

import pytest

from calibrant.core import library as module
from calibrant.core.library import library, source_hash
from reference.kernels import needs_library

COMPILER = shutil.which("cc")
SOURCE, LIBRARY = module.SOURCE, module.LIBRARY


def built(folder, text, source=None):
    """Build a library, and put the source it should come from next to it."""
    (folder / "kernel.c").write_bytes(SOURCE.read_bytes() if source is None else source)
    code = folder / "other.c"
    code.write_text(text)
    command = [COMPILER, "-shared", "-fPIC", str(code), "-o", str(folder / module.LIBRARY.name)]
    subprocess.run(command, check=True)


def answering(text):
    return f'const char *calibrant_source(void) {{ return "{text}"; }}'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SOURCE", tmp_path / "kernel.c")
    monkeypatch.setattr(module, "LIBRARY", tmp_path / LIBRARY.name)
    return tmp_path


def test_a_library_that_is_there_is_of_this_source():
    """Else numpy would do its work, and the tests of the kernel be passed over."""
    assert library() is not None or not LIBRARY.exists(), "kernel.c has changed: build it again"


@needs_library
def test_the_library_was_built_from_the_source_next_to_it():
    assert library().calibrant_source().decode() == source_hash()


def test_no_library_is_none(folder):
    (folder / "kernel.c").write_bytes(SOURCE.read_bytes())
    assert library() is None


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
def test_a_library_of_this_source_is_loaded(folder):
    built(folder, answering(module.sha256(SOURCE.read_bytes()).hexdigest()))
    assert library() is not None


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
@pytest.mark.parametrize(
    "text", [answering("unknown"), answering(""), answering("0" * 64), "int other(void);"]
)
def test_a_library_of_another_source_is_passed_over(folder, text):
    built(folder, text)
    assert library() is None


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
def test_a_source_that_changed_since_is_noticed(folder):
    text = answering(module.sha256(SOURCE.read_bytes()).hexdigest())
    built(folder, text, source=SOURCE.read_bytes() + b"\n")
    assert library() is None


@pytest.mark.parametrize("content", [b"", b"no library", b"\x7fELF" + bytes(60)])
def test_rubbish_in_its_place_is_passed_over(folder, content):
    (folder / "kernel.c").write_bytes(SOURCE.read_bytes())
    (folder / LIBRARY.name).write_bytes(content)
    assert library() is None


def test_a_folder_in_its_place_is_passed_over(folder):
    (folder / "kernel.c").write_bytes(SOURCE.read_bytes())
    (folder / LIBRARY.name).mkdir()
    assert library() is None


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
def test_without_its_source_no_library_is_trusted(folder):
    built(folder, answering(""))
    (folder / "kernel.c").unlink()
    assert library() is None
