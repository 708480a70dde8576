"""The language that answers are told in: gettext catalogues, and numbers written as that language writes them.

All text for people that `reports` makes goes through `say`. English is what stands in the code; the catalogues of the
other languages are `languages/*.po`, which are read as they are. Data stays as it is: names of rules, strategies,
measures and columns, commands, JSON keys and CSV files are the same in every language, and so are errors and help.
"""

import gettext
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from string import Formatter
from typing import Any

LANGUAGES = {"en": "English", "es": "español", "fr": "français", "de": "Deutsch", "it": "italiano"}
CATALOGUES = Path(__file__).with_name("languages")
KEYWORDS: dict[str, tuple[int, ...] | None] = {"say": None, "say_count": (1, 2), "mark": None}
"""The functions whose first texts are messages, as Babel's extraction takes them."""

_spoken = "en"


def language() -> str:
    """Return the language that is spoken now, a key of LANGUAGES."""
    return _spoken


def speak(wanted: str) -> None:
    """Speak a language (a key of LANGUAGES) from now on."""
    global _spoken
    _spoken = wanted


@contextmanager
def speaking(wanted: str) -> Iterator[None]:
    """Speak a language for a while."""
    before = _spoken
    speak(wanted)
    try:
        yield
    finally:
        speak(before)


def of_locale() -> str:
    """Return the language of the user's locale, English if we do not speak it."""
    from babel.core import default_locale

    try:
        named = default_locale("LC_MESSAGES") or "en"
    except ValueError:  # a locale such as C.UTF-8 names no language
        return "en"
    return named[:2] if named[:2] in LANGUAGES else "en"


def say(text: str, /, **fields: Any) -> str:
    """Return a text in the language spoken, its `{fields}` filled in; numbers among them are written as it does.

    text: English, a literal where it is said (or where it is marked), so that it is found for the catalogues.
    """
    return _fill(_catalogue(_spoken).gettext(text), fields)


def say_count(one: str, many: str, count: int, /, **fields: Any) -> str:
    """Return one of two texts, by how many things it is about; `count` is a field, too."""
    return _fill(_catalogue(_spoken).ngettext(one, many, count), {"count": count, **fields})


def mark(text: str) -> str:
    """Return a text as it is: one that is said elsewhere, and is found for the catalogues here."""
    return text


def numeral(text: str) -> str:
    """Return a number that was written in English, such as `1,234.5`, as the language spoken writes it."""
    if _spoken == "en":
        return text
    return text.translate(_symbols(_spoken))


def listed(words: Sequence[str]) -> str:
    """Return `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return say("{some} and {last}", some=", ".join(words[:-1]), last=words[-1])


def _fill(text: str, fields: dict[str, Any]) -> str:
    return _FORMATTER.vformat(text, (), fields) if fields else text


class _Formatter(Formatter):
    """Writes the numbers among the fields as the language spoken does."""

    def format_field(self, value: Any, format_spec: str) -> str:
        text = str(super().format_field(value, format_spec))
        return text if isinstance(value, str) else numeral(text)


_FORMATTER = _Formatter()


@cache
def _symbols(wanted: str) -> dict[int, str]:
    from babel.numbers import get_decimal_symbol, get_group_symbol

    return {ord(","): get_group_symbol(wanted), ord("."): get_decimal_symbol(wanted)}


@cache
def _catalogue(wanted: str) -> gettext.NullTranslations:
    if wanted == "en":
        return gettext.NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with open(CATALOGUES / f"{wanted}.po", "rb") as file:
        catalogue = read_po(file, locale=wanted)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)
