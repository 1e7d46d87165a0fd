"""The options of magics: the words before the code, and the values that they may have."""

from .leading import asks_for_help as asks_for_help
from .leading import only_comment as only_comment
from .leading import parse as parse
from .leading import read as read
from .leading import refuse_below as refuse_below
from .leading import split as split
from .misread import note_late_flags as note_late_flags
from .values import CHECKS as CHECKS
from .values import MODES as MODES
from .values import check as check
from .values import digits as digits
from .values import duration_ns as duration_ns
from .values import file as file
from .values import modes as modes
from .values import names as names
from .values import positive_int as positive_int
from .values import share as share
from .values import size_bytes as size_bytes
from .values import variable as variable
from .values import work as work
