"""The cache of compiled code: it follows the sources, and only those that matter."""

import subprocess
import sys

from sim import compiled
from sim.compiled import ROOT, cache_directory, sources_hash


def test_a_module_depends_on_what_it_imports_directly_or_not():
    imported = compiled._source(ROOT / "sim" / "engine.py")[1]
    assert ROOT / "sim" / "bits.py" in imported
    assert ROOT / "sim" / "record.py" in imported
    assert ROOT / "strategies" / "toolkit.py" not in imported


def test_strategies_do_not_touch_the_engine_but_the_engine_touches_them():
    assert cache_directory(str(ROOT / "sim" / "batch.py")) != cache_directory(str(ROOT / "strategies" / "plain.py"))


def test_bracketed_imports_of_whole_modules_are_seen(tmp_path):
    source = tmp_path / "one.py"
    source.write_text("from sim import (\n    engine,\n    cards as c,\n)\nfrom strategies.toolkit import pick\n")
    assert compiled._source(source)[1] == (
        ROOT / "sim" / "engine.py",
        ROOT / "sim" / "cards.py",
        ROOT / "strategies" / "toolkit.py",
    )
    before = sources_hash(source)
    other = tmp_path / "other" / "one.py"
    other.parent.mkdir()
    other.write_text(source.read_text() + "\n# edited\n")
    assert sources_hash(other) != before


PROGRAM = """
from sim.compiled import kernel

@kernel
def answer(x):
    return x * FACTOR

print(answer(2), sum(answer.stats.cache_hits.values()))
"""


def test_an_edited_file_is_compiled_again_and_an_unchanged_one_is_not(tmp_path, monkeypatch):
    """In processes of their own: miss, hit, and after an edit a miss with the new result."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / "program.py"

    def printed(factor):
        file.write_text(PROGRAM.replace("FACTOR", factor))
        command = [sys.executable, "-W", "error", str(file)]
        return subprocess.run(command, cwd=ROOT, env=None, capture_output=True, text=True, check=True).stdout.split()

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert printed("3") == ["6", "0"]
    assert printed("3") == ["6", "1"]
    assert printed("5") == ["10", "0"]
