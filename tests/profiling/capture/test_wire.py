"""Messages read in columns have the same fields as messages read one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.profiling.capture.wire import LENGTH, PADDING, VARINT, fields, varints


def varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes((*found, number))


def encoded(message: list[tuple[int, int | bytes | float]]) -> bytes:
    found = b""
    for number, value in message:
        if isinstance(value, int):
            found += varint(number << 3 | VARINT) + varint(value)
        elif isinstance(value, bytes):
            found += varint(number << 3 | LENGTH) + varint(len(value)) + value
        else:
            found += varint(number << 3 | 1) + np.float64(value).tobytes()
    return found


def read(messages: list[bytes]) -> list[list[tuple[int, Any]]]:
    """All fields of each message: the value of a number, the bytes of a text, the bits of a double."""
    data = np.frombuffer(b"".join(messages) + bytes(PADDING), np.uint8)
    end = np.cumsum([len(each) for each in messages], dtype=np.int64)
    start = end - [len(each) for each in messages]
    found: list[list[tuple[int, Any]]] = [[] for _ in messages]
    for each in fields(data, start, end):
        columns = (each.message, each.number, each.wire, each.value, each.at)
        for message, number, wire, value, at in zip(*(column.tolist() for column in columns), strict=True):
            if wire == VARINT:
                found[message].append((number, value))
            else:
                size = value if wire == LENGTH else 8 if wire == 1 else 4
                found[message].append((number, data[at : at + size].tobytes()))
    return found


FIELD = st.tuples(
    st.integers(1, 2000), st.one_of(st.integers(0, 2**63 - 1), st.binary(max_size=300), st.floats(width=64))
)


@given(st.lists(st.lists(FIELD, max_size=8), max_size=8))
def test_every_field_of_every_message_is_read(messages: list[list[tuple[int, Any]]]) -> None:
    wanted = [
        [(number, np.float64(value).tobytes() if isinstance(value, float) else value) for number, value in message]
        for message in messages
    ]
    assert read([encoded(each) for each in messages]) == wanted


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1))
def test_numbers_of_all_sizes_are_read_and_negative_ones_are_those_of_64_bits(numbers: list[int]) -> None:
    parts = [varint(each) for each in numbers]
    data = np.frombuffer(b"".join(parts) + bytes(PADDING), np.uint8)
    end = np.cumsum([len(each) for each in parts])
    values, after = varints(data, end - [len(each) for each in parts])
    assert values.view(np.uint64).tolist() == numbers
    assert after.tolist() == end.tolist()


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_any_bytes_are_read_to_an_end(messages: list[bytes]) -> None:
    for found, message in zip(read(messages), messages, strict=True):
        assert all(len(value) <= len(message) for _, value in found if isinstance(value, bytes))


def test_a_broken_message_ends_where_it_breaks_and_the_others_go_on() -> None:
    whole = encoded([(1, 5), (2, b"text"), (3, 7)])
    broken = encoded([(1, 5)]) + varint(2 << 3 | LENGTH) + varint(1000) + b"no"
    assert read([broken, whole]) == [[(1, 5)], [(1, 5), (2, b"text"), (3, 7)]]
