"""Answers a bot from memory whether an exchange is down, as a venuewatch service sees it."""

from ._changes import Change, DoubtChange, IncidentChange, StateChange
from ._client import Venuewatch
from ._http import VenuewatchError
from ._stream import Timing
from ._watch import Watch, WatchedVenue
from .ccxt_ids import venue_of

__version__ = "1.0.0"

__all__ = [
    "Change",
    "DoubtChange",
    "IncidentChange",
    "StateChange",
    "Timing",
    "Venuewatch",
    "VenuewatchError",
    "Watch",
    "WatchedVenue",
    "__version__",
    "venue_of",
]
