"""A fabricated program of any size, for what is done with a memory map once it is there."""

from __future__ import annotations

import random

from jaxmagic.memory_use.record.memory_profile import Allocation, Buffer, Executable


def program(buffers: int) -> Executable:
    """As XLA makes them: names with numbers, some forty lines of source, and lives of all lengths."""
    chance = random.Random(7)
    made, offset = [], 0
    for number in range(buffers):
        size, line = 64 * chance.randint(1, 5000), chance.randint(1, 40)
        made.append(
            Buffer(
                offset_bytes=offset,
                size_bytes=size,
                first=number,
                last=min(number + chance.choice((1, 1, 2, 3, 9, buffers // 2)), buffers - 1),
                instruction=f"{chance.choice(('fusion', 'dot', 'add_multiply_fusion', 'transpose'))}.{number}",
                shape=f"f32[{chance.choice((64, 128, 256))},{size // 256}]",
                op_name=f"jit(step)/transpose(jvp(layer_{line}))/{chance.choice(('dot_general', 'tanh', 'add'))}",
                source=f"/home/me/project/train.py:{line}",
            )
        )
        offset += size
    everything = Allocation(kind="temporary", size_bytes=offset, aliased=False, space=0, buffers=tuple(made))
    return Executable(
        name="jit_step",
        argument_bytes=0,
        output_bytes=0,
        alias_bytes=0,
        temporary_bytes=offset,
        generated_code_bytes=0,
        steps=buffers,
        allocations=(everything,),
    )
