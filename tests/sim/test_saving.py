"""A results folder: what is saved comes back, another experiment is refused, nothing is half-written."""

import json
import os

import numpy as np
import pytest

from sim.batch import Plan, Run, Scenario, run
from sim.rules import load
from sim.saving import CHUNKS, EXPERIMENT, STATE, Folder, FolderError, SavingError, write_whole
from strategies.registry import Player, crew_record, find

ASKED = {
    "verb": "simulate",
    "seed": 2**64 - 1,
    "players": (2, 3),
    "precision": None,
    "rules": [{"name": "ochos-locos", "options": {"draw": {"limit": 1}}}],
}


def plan(blocks=60):
    players = [Player(find("random"))] * 3
    scenario = Scenario(load("ochos-locos").rules, crew_record(players), tuple(p.label for p in players))
    return Plan((scenario,), seed=5, blocks=blocks)


@pytest.fixture
def folder(tmp_path):
    return Folder.open(tmp_path / "results", ASKED)


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a.arrays().values(), b.arrays().values(), strict=True))


def test_a_saved_run_comes_back(folder):
    """Another process finds the counts, the ranges and the seconds, and can play on from them."""
    whole, part = run(plan()), run(plan(25))
    part.seconds = 1.25
    folder.save("3 players", part, now=True)
    again = Folder.open(folder.path, ASKED).load("3 players", plan())
    assert again.finished == [(0, 25)]
    assert again.seconds == 1.25
    assert same(again.tally, part.tally)
    assert same(run(plan(), resumed=again).tally, whole.tally)


def test_parts_are_kept_side_by_side(folder):
    """Saving one part keeps those that were finished before."""
    folder.save("a", run(plan(10)), now=True)
    Folder.open(folder.path, ASKED).save("b", run(plan(20)), now=True)
    again = Folder.open(folder.path, ASKED)
    assert [int(again.load(part, plan()).tally.blocks) for part in ("a", "b")] == [10, 20]
    assert again.load("c", plan()) is None


def test_it_saves_now_and_then(folder, monkeypatch):
    """Only every couple of seconds, unless it has to be now."""
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    folder.save("a", run(plan(10)))
    folder.save("a", run(plan(20)))
    assert int(Folder.open(folder.path, ASKED).load("a", plan()).tally.blocks) == 10
    clock[0] += 2.5
    folder.save("a", run(plan(30)))
    assert int(Folder.open(folder.path, ASKED).load("a", plan()).tally.blocks) == 30


def test_the_state_is_told_to_people(folder):
    folder.save("a", run(plan(10)), now=True)
    told = json.loads((folder.path / STATE).read_text())["parts"][0]
    assert (told["part"], told["blocks"], told["blocks_at_most"]) == ("a", 10, 10)
    assert told["stopped"] == "all blocks played"


def test_the_experiment_is_echoed_in_full(folder):
    """A seed too large for TOML is text; what was not asked is absent."""
    text = (folder.path / EXPERIMENT).read_text()
    assert f'seed = "{2**64 - 1}"' in text
    assert "limit = 1" in text
    assert "precision" not in text


def test_another_experiment_is_refused(folder):
    other = {**ASKED, "rules": [{"name": "ochos-locos", "options": {"draw": {"limit": 3}}}]}
    with pytest.raises(FolderError, match=r"another experiment \(rules.1.options.draw.limit: 1 there, 3 here\)"):
        Folder.open(folder.path, other)
    with pytest.raises(FolderError, match=r"precision: not given there, 0.01 here"):
        Folder.open(folder.path, {**ASKED, "precision": 0.01})


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "report.md").write_text("mine")
    with pytest.raises(FolderError, match=r"holds report.md but no experiment.toml"):
        Folder.open(tmp_path, ASKED)
    (tmp_path / "report.md").unlink()
    (tmp_path / "notes.txt").write_text("other files do not matter")
    Folder.open(tmp_path, ASKED)


def test_a_file_and_an_unwritable_place_are_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(FolderError, match="is a file"):
        Folder.open(file, ASKED)
    with pytest.raises(FolderError, match="can not be written to: Not a directory"):
        Folder.open(file / "below", ASKED)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 torn", b"not a zip at all"])
def test_a_damaged_state_is_told(folder, damage):
    (folder.path / CHUNKS).write_bytes(damage)
    with pytest.raises(FolderError, match=r"chunks.npz: damaged: .*; remove it to play from the start"):
        Folder.open(folder.path, ASKED).load("a", plan())


def test_no_pickle_is_read(folder):
    np.savez(folder.path / CHUNKS, **{"a/blocks": np.array([object()], dtype=object)})
    with pytest.raises(FolderError, match="damaged"):
        Folder.open(folder.path, ASKED)


def test_counts_that_do_not_fit_are_refused(folder):
    """Arrays of another shape, or counts that are not those of the ranges."""
    done = run(plan(10))
    folder.save("a", Run(done.plan, done.tally, [(0, 11)]), now=True)
    with pytest.raises(FolderError, match="its counts and its ranges of blocks differ"):
        Folder.open(folder.path, ASKED).load("a", plan())
    done.tally.turns = done.tally.turns[:, :7]
    folder.save("a", done, now=True)
    with pytest.raises(FolderError, match="no turns of this experiment"):
        Folder.open(folder.path, ASKED).load("a", plan())


def test_a_full_disk_is_told_and_keeps_the_last_state(folder, monkeypatch):
    folder.save("a", run(plan(10)), now=True)

    def full(source, target):
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(SavingError, match="could not be saved to: No space left on device"):
        folder.save("a", run(plan(20)), now=True)
    monkeypatch.undo()
    assert int(Folder.open(folder.path, ASKED).load("a", plan()).tally.blocks) == 10
    assert sorted(path.name for path in folder.path.iterdir()) == [CHUNKS, EXPERIMENT, STATE]


def test_write_whole_leaves_nothing_beside(tmp_path):
    write_whole(tmp_path / "a", b"1")
    write_whole(tmp_path / "a", b"2")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"2"
