"""The words of the console in English and Chinese."""

from __future__ import annotations

from functools import cache

from starlette.requests import Request

from text.pattern_files import read_packaged_toml

LANGUAGES = {"en": "English", "zh": "中文"}
"""The languages of the console, as they call themselves."""

LANGUAGE_COOKIE = "dossier_language"


def say(language: str, name: str, /, **values: object) -> str:
    """Return words by their name, `section.key`, with values in their places.

    Raises:
        KeyError: If there are none.
    """
    return _read_words()[name][language == "zh"].format(**values)


def find_words(language: str, name: str) -> str:
    """Return words by their name; the name's own last part where there are none."""
    known = _read_words().get(name)
    return known[language == "zh"] if known else name.rpartition(".")[2].replace("_", " ")


def list_word_names() -> list[str]:
    """Return the names of all words."""
    return [*_read_words()]


@cache
def _read_words() -> dict[str, list[str]]:
    sections = read_packaged_toml("app.web", "console_words.toml")
    return {
        f"{part}.{key}": both for part, words in sections.items() for key, both in words.items()
    }


def choose_language(request: Request) -> str:
    """Return the language that a person has chosen, or else that of their browser."""
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    if chosen in LANGUAGES:
        return chosen
    for part in request.headers.get("accept-language", "").split(","):
        name = part.partition(";")[0].strip().lower().partition("-")[0]
        if name in LANGUAGES:
            return name
    return "en"
