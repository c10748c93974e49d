"""Prints the hosts of exchanges in a wheel of ccxt, as JSON: {"version", "hosts": {id: [host]}}.

Usage: ccxt_hosts.py WHEEL ID… An exchange that ccxt does not have has no hosts.

Reads the sources without importing them, so that none of ccxt's dependencies is needed: the literals of `urls.api` and
`hostname` in `describe`, of the exchange for REST, of its `pro` class for sockets, and of the classes that it extends.
"""

from __future__ import annotations

import ast
import json
import pathlib
import re
import sys
import urllib.parse
import zipfile
from typing import Iterator

DEFAULT_PORTS = {"https": 443, "wss": 443, "http": 80, "ws": 80}


def main(path: str, exchanges: list[str]) -> None:
    with zipfile.ZipFile(path) as wheel:
        sources = {
            match.groups(): wheel.read(name).decode()
            for name in wheel.namelist()
            if (match := re.fullmatch(r"ccxt/(pro/)?(\w+)\.py", name))
        }
    hosts = {one: sorted(set(hosts_of(one, sources))) for one in exchanges}
    version = re.match(r"ccxt-([\w.]+)-", pathlib.Path(path).name)
    print(json.dumps({"version": version[1] if version else None, "hosts": hosts}))


def hosts_of(exchange: str, sources: dict[tuple[str | None, str], str]) -> Iterator[str]:
    for folder in (None, "pro/"):
        source = sources.get((folder, exchange))
        if source is None:
            continue
        for node in ast.parse(source).body:
            if not isinstance(node, ast.ClassDef) or node.name != exchange:
                continue
            yield from described(node, hostname_of(exchange, sources))
            for base in node.bases:
                if isinstance(base, ast.Name) and (None, base.id) in sources and base.id != exchange:
                    yield from hosts_of(base.id, sources)


def hostname_of(exchange: str, sources: dict[tuple[str | None, str], str]) -> str:
    found = re.search(r"'hostname': '([^']+)'", sources.get((None, exchange), ""))
    return found[1] if found else ""


def described(exchange: ast.ClassDef, hostname: str) -> Iterator[str]:
    for urls in values_of("urls", exchange):
        for api in values_of("api", urls):
            for node in ast.walk(api):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    address = urllib.parse.urlsplit(node.value.replace("{hostname}", hostname))
                    if address.scheme in DEFAULT_PORTS and address.hostname:
                        port = address.port
                        usual = port is None or port == DEFAULT_PORTS[address.scheme]
                        yield address.hostname if usual else f"{address.hostname}:{port}"


def values_of(key: str, tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for name, value in zip(node.keys, node.values):
                if isinstance(name, ast.Constant) and name.value == key:
                    yield value


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
