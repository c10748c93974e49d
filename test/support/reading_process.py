"""Reads hostile services by the Python client, as reading-process.ts does by other readers."""

from __future__ import annotations

import json
import pathlib
import resource
import sys

from venuewatch import Venuewatch, VenuewatchError

_PAGES_PER_MIB = 2**20 // resource.getpagesize()


def rss_mib() -> float:
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) / _PAGES_PER_MIB


def peak_mib() -> float:
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


for line in sys.stdin:
    # begins a new peak
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    idle = rss_mib()
    try:
        Venuewatch(line.strip(), timeout_s=1.5).status()
    except VenuewatchError:
        pass
    print(json.dumps({"peakMiB": round(peak_mib() - idle)}), flush=True)
