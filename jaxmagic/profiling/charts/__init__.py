"""Pictures of device time."""

from ...charts.chart_of import Pictured
from ..record.profile import Profile
from .flame import profile_flame
from .lines import lines_chart
from .memory import memory_chart
from .roofline import roofline_chart
from .steps import steps_chart
from .timeline import profile_timeline_chart

_NO_TIME = "no device time was recorded"
_NO_ROOF = "the peak rates of the device, or the FLOPs of all operations, are not known"
_NO_STEPS = "no steps are marked, and no program ran three times in a row"

CHARTS = {
    Profile: {
        "scopes": Pictured(lambda record: profile_flame(record, "scope"), _NO_TIME),
        "stacks": Pictured(lambda record: profile_flame(record, "stack"), _NO_TIME),
        "lines": Pictured(lines_chart, _NO_TIME),
        "timeline": Pictured(profile_timeline_chart, _NO_TIME),
        "roofline": Pictured(roofline_chart, _NO_ROOF),
        "steps": Pictured(steps_chart, _NO_STEPS),
        "memory": Pictured(memory_chart, "the recording has no allocator events"),
    }
}
