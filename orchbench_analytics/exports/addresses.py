"""Addresses of databases: parsed here and nowhere else, and shown only without their secrets.

People write passwords as they are, with `@` and `/` in them, and in the query as `?password=`. What
stands before the last `@` in front of the query is taken for the user and the password.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")  # one letter is a drive of Windows
_QUERY = re.compile(r"[^=&]+=[^&]*(?:&[^=&]+=[^&]*)*")
_SECRET = re.compile(r"pass|pwd|secret|token|credential|access_?key|private", re.IGNORECASE)
_HIDDEN = "***"


class Address(NamedTuple):
    """An address in its parts; only user and password are percent-decoded.

    `is_clear` is false where `@` comes after `?`, so that the query may be part of a password.
    """

    scheme: str
    user: str
    password: str | None
    place: str
    query: tuple[tuple[str, str], ...]
    is_clear: bool

    @property
    def secrets(self) -> list[str]:
        """Everything that must not be shown."""
        held = [value for name, value in self.query if _is_secret(name)]
        return [secret for secret in (self.password, *held) if secret]

    @property
    def has_secret_query(self) -> bool:
        """Whether a secret is in the query, where most programs print it."""
        return any(_is_secret(name) for name, _ in self.query)

    def with_password(self, password: str | None, *, is_quoted: bool = True) -> str:
        """The address as drivers read it, with this password in place of its own."""
        user = quote(self.user, safe="")
        if password is not None:
            user += ":" + (quote(password, safe="") if is_quoted else password)
        query = "&".join(f"{name}={value}" for name, value in self.query)
        at = "@" if user else ""
        return f"{self.scheme}://{user}{at}{self.place}" + (f"?{query}" if query else "")


def is_address(text: str) -> bool:
    """Whether a target is an address, or meant as one."""
    return _SCHEME.match(text) is not None


def parse(text: str) -> Address:
    """The parts of an address."""
    match = _SCHEME.match(text)
    scheme, rest = ("", text)
    if match is not None:
        scheme, after = match[1].lower(), text[match.end(1) + 1 :]
        rest = after.removeprefix("//" if after.startswith("//") else "/")
    before, _, after = rest.partition("?")
    if "@" not in before and "@" in after and not _QUERY.fullmatch(after):
        before, after = rest, ""  # a question mark in the password
        head, _, tail = before.rpartition("@")
        tail, _, after = tail.partition("?")
        before = f"{head}@{tail}"
    has_user = "@" in before and not before.startswith("/")
    user, place = before.rpartition("@")[::2] if has_user else ("", before)
    name, colon, password = user.partition(":")
    pairs = (part.partition("=")[::2] for part in after.split("&") if part)
    is_clear = not (":" in before and "@" in after)
    held = unquote(password) if colon else None
    return Address(scheme, unquote(name), held, place, tuple(pairs), is_clear)


def shown(text: str) -> str:
    """An address, or any other target, as it may be printed."""
    if not is_address(text):
        return text
    address = parse(text)
    if not address.is_clear:
        name = address.user or address.place.partition(":")[0]
        return f"{address.scheme}://{name}:{_HIDDEN}@…"
    query = tuple((n, _HIDDEN if _is_secret(n) else value) for n, value in address.query)
    password = None if address.password is None else _HIDDEN
    return address._replace(query=query).with_password(password, is_quoted=False)


def scrubbed(message: str, text: str) -> str:
    """What a driver said of an address, without the address and without its secrets."""
    message = message.replace(text, shown(text))
    forms = {f for s in parse(text).secrets for f in (s, quote(s, safe=""), quote(s), unquote(s))}
    for form in sorted(forms, key=len, reverse=True):
        message = message.replace(form, _HIDDEN)
    return message


def _is_secret(name: str) -> bool:
    return _SECRET.search(unquote(name)) is not None
