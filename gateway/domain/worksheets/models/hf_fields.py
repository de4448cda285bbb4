"""Strict reading of a Hugging Face config.json, key by key. None stands for a key that is absent, as in the files."""

import re
from collections.abc import Mapping
from fractions import Fraction

from gateway.domain.errors import GatewayError

MOST_LAYERS = 256
"""More than twice those of the deepest model that is modelled, so that no sheet takes long."""
MOST_EXPERTS = 4096
MOST_HEADS = 4096
MOST_SIZE = 2**22
MOST_TOKENS = 10**9
MEASURE = "Enter a measured KV capacity instead of a computed one."
"""The remedy where a layout is not modelled."""
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,63}", re.ASCII)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}", re.ASCII)


class ConfigRefused(GatewayError):
    """A config.json that lacks something, contradicts itself, or describes a layout that is not modelled."""

    def __init__(self, key: str, sentence: str, remedy: str) -> None:
        super().__init__(f"{key}: {sentence} {remedy}" if key else f"{sentence} {remedy}")
        self.key = key
        """Empty: the file as a whole."""
        self.sentence = sentence
        self.remedy = remedy


class Config:
    """The keys of one file. What has been read is remembered, so that what was not can be told."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values
        self._read: set[str] = set()

    def has(self, key: str) -> bool:
        """Whether it is there, and not null."""
        self._read.add(key)
        return self._values.get(key) is not None

    def must_stand(self, key: str) -> None:
        """Null says that there is none; a key that is absent says what the family's code takes for it.

        :raises ConfigRefused: if it is absent.
        """
        if key not in self._values:
            remedy = "Enter the whole config.json of the model; null stands for none."
            raise ConfigRefused(key, "The config.json lacks it, and this family's code has a default.", remedy)

    def count(self, key: str, *, most: int, least: int = 1, default: int | None = None) -> int:
        """A whole number. Without a default it must be there."""
        if not self.has(key) and default is not None:
            return default
        found = self._required(key)
        # bool is an int to Python, and no count.
        if type(found) is not int:
            raise ConfigRefused(key, "This is not a whole number.", "Mend the config.json.")
        if not least <= found <= most:
            raise ConfigRefused(key, f"This is not between {least:,} and {most:,}.", "Mend the config.json.")
        return found

    def factor(self, key: str, *, most: int) -> Fraction:
        """A number of one and above, exactly as the file's nearest double."""
        found = self._required(key)
        if isinstance(found, bool) or not isinstance(found, int | float) or not 1 <= found <= most:
            raise ConfigRefused(key, f"This is not a number between 1 and {most:,}.", "Mend the config.json.")
        return Fraction(found)

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false."""
        if not self.has(key):
            return default
        found = self._values[key]
        if not isinstance(found, bool):
            raise ConfigRefused(key, "This is neither true nor false.", "Mend the config.json.")
        return found

    def name(self, key: str) -> str:
        """A short word, fit to be repeated in a sentence."""
        found = self._required(key)
        if not isinstance(found, str) or not _NAME.fullmatch(found):
            raise ConfigRefused(key, "This is not a name.", "Mend the config.json.")
        return found

    def section(self, key: str) -> "Config | None":
        """An object within the file; None: there is none."""
        if not self.has(key):
            return None
        found = self._values[key]
        if not isinstance(found, dict):
            raise ConfigRefused(key, "This is not an object.", "Mend the config.json.")
        return Config(found)

    def list_of(self, key: str, kind: type, *, most: int = MOST_LAYERS) -> list[object]:
        """A list; its elements are of one type."""
        found = self._required(key)
        if not isinstance(found, list) or len(found) > most or any(type(one) is not kind for one in found):
            remedy = "Mend the config.json."
            raise ConfigRefused(key, f"This is not a list of at most {most:,} {_CALLED[kind]}.", remedy)
        return found

    def ignore(self, *keys: str) -> None:
        """Count them as read: whatever they say changes nothing."""
        self._read.update(keys)

    def unread(self) -> list[str]:
        """Keys that say something and were not read, as ``repeatable`` has them."""
        return [
            repeatable(key) for key, value in self._values.items() if key not in self._read and _says_something(value)
        ]

    def _required(self, key: str) -> object:
        if not self.has(key):
            raise ConfigRefused(key, "The config.json lacks it.", "Enter the whole config.json of the model.")
        return self._values[key]


_CALLED = {str: "words", int: "whole numbers"}


def repeatable(key: str) -> str:
    """A key as far as it is fit to be repeated in a sentence, else ``?``."""
    return key if _KEY.fullmatch(key) else "?"


def _says_something(value: object) -> bool:
    """Null, false, zero and what is empty turn a feature off."""
    return bool(value)
