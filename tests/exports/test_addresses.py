"""Addresses: drivers get what people wrote, and no message shows a secret."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.addresses import parse, scrubbed, shown
from orchbench_analytics.exports.superset import without_secret
from orchbench_analytics.warehouse import Warehouse

SHOWN = {
    "mysql://me:s3cret@host/db": "mysql://me:***@host/db",
    "postgresql+psycopg2://me:s3cret@host/db": "postgresql+psycopg2://me:***@host/db",
    "POSTGRESQL://me:s3cret@host/db": "postgresql://me:***@host/db",
    "postgres://me:s3cret@host:5432/db?sslmode=require": (
        "postgres://me:***@host:5432/db?sslmode=require"
    ),
    "postgresql://me:p@s3cret@host/db": "postgresql://me:***@host/db",
    "postgresql://me:p/s3cret@host/db": "postgresql://me:***@host/db",
    "postgresql://me:p/s3cret/@x@host/db": "postgresql://me:***@host/db",
    "postgresql://me:p?s3cret@host/db": "postgresql://me:***@host/db",
    "postgresql://me:p?a=s3cret@host/db": "postgresql://me:***@…",
    "postgresql://me:s3cret@host/db?application_name=a@b": "postgresql://me:***@…",
    "postgresql:/me:s3cret@host/db": "postgresql://me:***@host/db",
    "postgresql://host/db?user=me&password=s3cret": "postgresql://host/db?user=me&password=***",
    "postgresql://host/db?PASSWORD=s3cret&a=b": "postgresql://host/db?PASSWORD=***&a=b",
    "postgresql://host/db?pass%77ord=s3cret": "postgresql://host/db?pass%77ord=***",
    "postgresql://host/db?sslpassword=s3cret": "postgresql://host/db?sslpassword=***",
    "postgresql://:s3cret@host/db": "postgresql://:***@host/db",
    "postgresql://host:5432/db?user=me@corp": "postgresql://host:***@…",
    "postgresql://me@host/db": "postgresql://me@host/db",
    "postgresql:///db?host=/run": "postgresql:///db?host=/run",
    "duckdb:////data/me@home/star.duckdb": "duckdb:////data/me@home/star.duckdb",
    "out/of:here@x": "out/of:here@x",
}


@pytest.mark.parametrize("address", SHOWN)
def test_an_address_is_shown_without_its_password(address: str) -> None:
    assert shown(address) == SHOWN[address]
    password = parse(address).password or ""
    assert "s3cret" not in scrubbed(f'could not reach "{address}" with {password}', address)


@given(password=st.text(st.characters(codec="utf-8", exclude_characters="?"), min_size=1))
def test_any_password_reaches_the_driver_whole(password: str) -> None:
    text = "postgresql://me:" + password.replace("%", "%25") + "@host/db"
    address = parse(text)
    assert (address.user, address.password, address.place) == ("me", password, "host/db")
    again = parse(address.with_password(address.password))
    assert (again.user, again.password, again.place) == ("me", password, "host/db")


@pytest.mark.parametrize("address", [a for a in SHOWN if "s3cret" in a])
def test_no_bundle_and_no_message_holds_a_password(
    small: Warehouse, tmp_path: Path, address: str
) -> None:
    try:
        held = without_secret(address)
    except PathError as error:
        held = str(error)
    assert "s3cret" not in held
    if not address.lower().startswith(("postgresql:", "postgres:")):
        with pytest.raises(PathError, match="is not a target") as caught:
            small.export(address)
        assert "s3cret" not in str(caught.value)
