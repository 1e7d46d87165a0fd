"""The charts of memory records."""

from ...charts.chart_of import Pictured
from ..record.heap import HeapDifference, HeapProfile
from ..record.live_arrays import LiveArrays
from ..record.memory_profile import Executable, MemoryProfile
from .buffer_map import map_chart, mapped
from .heap_flame import heap_flame
from .live_arrays import arrays_chart

_NO_MAP = "no program that ran has a memory map"

CHARTS = {
    MemoryProfile: {
        "map": Pictured(lambda record: None if (program := mapped(record)) is None else map_chart(program), _NO_MAP)
    },
    Executable: {"map": Pictured(map_chart, "its buffers are unknown, or it needs no memory")},
    LiveArrays: {"arrays": Pictured(arrays_chart, "no array takes any memory")},
    HeapDifference: {"heap": Pictured(heap_flame, "no memory is held")},
    HeapProfile: {
        "heap": Pictured(lambda record: heap_flame(HeapDifference(before=None, after=record)), "no memory is held")
    },
}
