"""Nouns: frozen records of what was measured.

The law of this room: a record is a fact. It is a frozen, slotted, keyword-only dataclass of numbers, strings
and other records, in the units that its field names say; ``None`` where nothing was measured; nothing stored
that can be derived; and the environment under which it is true. It holds no array, no function, no module.
"""
