"""Strategies of others: in a file that is named, or in an installed package that announces them.

A file is a program, run when it is named and not before. What it declares goes into a register of its own, so that its
names clash with none. Modules that lie beside it can be imported by it; they, too, belong to this file alone, so that
two files may each have a `helpers.py`. A package announces a function, or a `Strategy`, as an entry point of the group
`ochos_sim.strategies`.
"""

import hashlib
import importlib
import importlib.metadata
import linecache
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from strategies.registry import (
    FILE,
    Strategy,
    StrategyError,
    built_in,
    hint,
    nearest,
    register_apart,
    shown,
    strategy_of,
)

GROUP = "ochos_sim.strategies"
PLAIN_NAME = "play"
"""The function that is taken from a file which declares no strategy and is asked for by itself."""
FACADE = ("ochos_sim", "sim", "strategies", "reports", "door", "cli")
"""What a file cannot have beside it: the project's own modules."""


# --- Files ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Loaded:
    """A file that was run: its module, what it holds by name, and the content of all that was run."""

    module: ModuleType
    strategies: dict[str, Strategy]
    label: str
    typed: str
    contents: dict[Path, str]

    @property
    def is_current(self) -> bool:
        return all(path.exists() and _digest(path.read_bytes()) == digest for path, digest in self.contents.items())

    @property
    def source(self) -> str:
        first, *others = self.contents.values()
        return _digest("".join([first, *sorted(others)]).encode()) if others else first

    def named(self, name: str, strategy: Strategy) -> Strategy:
        """Return a strategy of the file as it is called outside, the same one each time."""
        if not strategy.file:
            strategy = replace(strategy, name=f"{self.label}:{name}", source=self.source, file=self.typed)
            self.strategies[name] = strategy
        return strategy


_loaded: dict[Path, _Loaded] = {}
_labels: dict[str, Path] = {}
"""What files are called: their names without the way there, unless another one had that name first."""


def find_in_file(spec: str) -> Strategy:
    """Find a strategy in a file: `FILE.py[:NAME][:key=value,…]`.

    Without a name it is the only one that the file declares, else its function `play`. Raises StrategyError.
    """
    typed, name, settings = _parts(spec)
    found = _chosen(_load(typed), name)
    return found.having(settings) if settings else found


def specs_in_file(spec: str) -> list[str]:
    """List what a file alone can stand for: a spec for each strategy that it declares, else itself."""
    typed, name, _ = _parts(spec)
    declared = _load(typed).strategies
    return [spec] if name or len(declared) < 2 else [f"{typed}:{one}" for one in declared]


def _parts(spec: str) -> tuple[str, str, str]:
    """Part a spec into the file, the name and the settings; '' where there are none."""
    found = FILE.fullmatch(spec)
    assert found, spec
    name, _, settings = (found[2] or "").partition(":")
    return (found[1], "", found[2]) if "=" in name else (found[1], name, settings)


def _chosen(loaded: _Loaded, name: str) -> Strategy:
    """Find what is asked for in a file that was run."""
    declared, around, typed = loaded.strategies, vars(loaded.module), loaded.typed
    if not name:
        if len(declared) > 1:
            raise StrategyError(
                f"{typed} declares {len(declared)} strategies; say which, as {typed}:{next(iter(declared))}; "
                f"there are: {', '.join(declared)}"
            )
        name = next(iter(declared), PLAIN_NAME)
        if not declared and name not in around:
            raise StrategyError(
                f"{typed} holds no strategy; allowed: @strategy(…) above a function, or a function {PLAIN_NAME}(view)"
            )
    if name in declared:
        return loaded.named(name, declared[name])
    function: Any = around.get(name)
    if not isinstance(getattr(function, "py_func", function), FunctionType):
        own = [one for one, value in around.items() if getattr(value, "__module__", "") == loaded.module.__name__]
        raise StrategyError(f"{typed} holds no strategy or function {name!r}{hint(name, {*declared, *own})}")
    try:
        return loaded.named(name, strategy_of(function, around))
    except StrategyError as error:
        text = str(error)
        raise StrategyError(
            text if text.startswith(shown(str(loaded.module.__file__))) else f"{typed}: {text}"
        ) from None


def _load(typed: str) -> _Loaded:
    """Run a file, unless it was run before and is still the same. Raises StrategyError."""
    path = _path_of(typed)
    try:
        content = path.read_bytes()
    except OSError as error:
        others = [str(Path(typed).with_name(other.name)) for other in path.parent.glob("*.py")]
        raise StrategyError(f"{typed}: {error.strerror}{nearest(typed, others)}") from None
    if path in _loaded and _loaded[path].is_current:
        return _loaded[path]
    linecache.checkcache(str(path))
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    # Its directory is searched first, as for any program; our own modules must be there before.
    importlib.import_module(FACADE[0])
    with register_apart() as declared, _own_neighbours(path) as neighbours, redirect_stdout(sys.stderr):
        sys.modules[path.stem] = module
        try:
            exec(compile(content, str(path), "exec", dont_inherit=True), vars(module))
        except (Exception, SystemExit) as error:  # whatever the file does: its writer is shown the line
            raise StrategyError(_import_fault(typed, path, error)) from error
    contents = {path: _digest(content)}
    contents |= {file: _digest(file.read_bytes()) for one in neighbours.values() if (file := _file_of(one))}
    label = next((label for label, labelled in _labels.items() if labelled == path), "")
    if not label:
        label = typed if path.name in _labels else path.name
        _labels[label] = path
    loaded = _Loaded(module, declared, label, typed, contents)
    _rename(loaded, neighbours)
    _loaded[path] = loaded
    return loaded


def _path_of(typed: str) -> Path:
    """Find a file by its path, or by what it was called before in this process."""
    path = Path(typed).resolve()
    called = _labels.get(typed, path)
    if called != path and path.exists():
        raise StrategyError(
            f"{typed} may be {shown(str(called))} or {shown(str(path))}; write ./{typed} for the latter"
        )
    return called


@contextmanager
def _own_neighbours(path: Path) -> Iterator[dict[str, ModuleType]]:
    """Let a file import what lies beside it, anew, and take these modules out again; they are in the dict then."""
    neighbours: dict[str, ModuleType] = {}

    def out() -> dict[str, ModuleType]:
        return {
            name: sys.modules.pop(name)
            for name, module in list(sys.modules.items())
            if name == path.stem or _lies_beside(path, name, module)
        }

    others = out()
    writes = sys.dont_write_bytecode
    sys.path.insert(0, str(path.parent))
    sys.dont_write_bytecode = True  # nothing is left in the user's directory, nothing old is read from there later
    importlib.invalidate_caches()
    try:
        yield neighbours
    finally:
        sys.path.remove(str(path.parent))
        sys.dont_write_bytecode = writes
        neighbours |= {name: module for name, module in out().items() if name != path.stem}
        sys.modules.update(others)


def _file_of(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if file else None


def _lies_beside(path: Path, name: str, module: ModuleType) -> bool:
    """Whether a module is one of those that a file finds in its own directory."""
    top = name.partition(".")[0]
    where = _file_of(module) or next((Path(place).resolve() for place in getattr(module, "__path__", ())), None)
    if where is None or top in FACADE:
        return False
    return where == path.with_name(f"{top}.py") or path.with_name(top) in (where, *where.parents)


def _rename(loaded: _Loaded, neighbours: dict[str, ModuleType]) -> None:
    """Give the modules of a file names that say what is in them and where.

    Compiled code finds its module and its functions by such names, also when it is read from the cache.
    """
    mark = _digest(f"{loaded.module.__file__} {loaded.source}".encode())[:16]
    for name, module in {loaded.module.__name__: loaded.module, **neighbours}.items():
        new = re.sub(r"\W", "_", f"{name}_{mark}")
        for value in vars(module).values():
            function = getattr(value, "py_func", value)
            if isinstance(function, FunctionType | type) and function.__module__ == name:
                function.__module__ = new
        module.__name__ = new
        sys.modules[new] = module


def _import_fault(typed: str, path: Path, error: BaseException) -> str:
    """Say in one line, with the line of the file, why a file cannot be run."""
    line, file = 0, path
    if isinstance(error, SyntaxError) and error.filename:
        line, file, what = error.lineno or 0, Path(error.filename), error.msg
    else:
        what = str(error) if isinstance(error, StrategyError) else f"{type(error).__name__}: {error}"
        for frame in traceback.extract_tb(error.__traceback__):
            if Path(frame.filename).parent == path.parent and frame.lineno:
                line, file = frame.lineno, Path(frame.filename)
    where = typed if file == path else shown(str(file))
    text = linecache.getline(str(file), line).strip() if line else ""
    return " ".join(f"{where}{f', line {line}' if line else ''}: {what}{f': {text}' if text else ''}".split())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# --- Packages -------------------------------------------------------------------------------------------------------


def _announced() -> list[importlib.metadata.EntryPoint]:
    return sorted(importlib.metadata.entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))


def installed_names() -> list[str]:
    """List the names under which installed packages announce strategies; nothing of theirs is run."""
    return [entry.name for entry in _announced()]


def find_installed(name: str) -> Strategy | None:
    """Find the strategy that an installed package announces under a name. Raises StrategyError if it is broken."""
    entries = [entry for entry in _announced() if entry.name == name]
    if len(entries) > 1:
        packages = " and ".join(_package(entry) for entry in entries)
        raise StrategyError(f"two strategies are called {name!r}: of the packages {packages}")
    return _from_package(entries[0]) if entries else None


def installed() -> tuple[dict[str, Strategy], list[str]]:
    """Find all strategies of installed packages: by name, and a line for each that cannot be had."""
    found, broken = {}, []
    taken = built_in()
    for name in dict.fromkeys(installed_names()):
        try:
            if name in taken:
                raise StrategyError(f"strategy {name} of an installed package: a built-in one has the name")
            strategy = find_installed(name)
            assert strategy
            found[name] = strategy
        except StrategyError as error:
            broken.append(str(error))
    return found, broken


def _package(entry: importlib.metadata.EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.module


def _from_package(entry: importlib.metadata.EntryPoint) -> Strategy:
    try:
        with register_apart(), redirect_stdout(sys.stderr):
            made: Any = entry.load()
        if isinstance(getattr(made, "py_func", made), FunctionType):
            made = strategy_of(made, vars(sys.modules[made.__module__]))
        if not isinstance(made, Strategy):
            raise StrategyError(f"{entry.value} is {made!r}; allowed: a function of the view, or a Strategy")
    except (Exception, SystemExit) as error:  # whatever the package does: its user is told which one it is
        what = str(error) if isinstance(error, StrategyError) else f"{type(error).__name__}: {error}"
        raise StrategyError(" ".join(f"strategy {entry.name} of package {_package(entry)}: {what}".split())) from error
    file = Path(getattr(made.play, "py_func", made.play).__code__.co_filename)
    source = _digest(file.read_bytes()) if file.exists() else ""
    return replace(made, name=entry.name, source=source)
