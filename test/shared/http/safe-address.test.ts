/** The addresses and URLs to which alerts may be sent. */
import t, { type Test } from "tap";
import { kindOfAddress, problemOfAddress } from "../../../shared/http/safe-address.js";
import { problemOfUrl } from "../../../server/core/alerts/receiver-url.js";

/** Addresses of each kind, separated by spaces. */
const kinds: [kind: string, addresses: string][] = [
  ["public", "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0"],
  ["public", "168.63.129.15 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255"],
  ["public", "192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 2606:4700:4700::1111"],
  ["public", "2a00:1450:4001:81b::200e 2001:200::1 2001:db7:ffff::1 2001:db9::1 2003::1 2000:: 3ffe:ffff::1"],
  ["public", "3fff:1000::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8"],
  ["of this network", "0.0.0.0 0.255.255.255 ::"],
  ["private", "10.0.0.0 10.0.0.7 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.1 192.168.255.255"],
  ["private", "::ffff:10.0.0.7 fc00::1 fdff:ffff::1 fd00:ec2::253"],
  ["shared by carriers (CGNAT)", "100.64.0.0 100.127.255.255"],
  ["loopback", "127.0.0.1 127.255.255.255 ::1 0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001"],
  ["loopback", "::ffff:127.0.0.1 ::ffff:7f00:1 0:0:0:0:0:FFFF:7F00:0001"],
  ["link-local", "169.254.0.1 169.254.255.255 fe80::1 fe80::1%eth0 2606:4700::1%eth0 febf:ffff::1"],
  ["of cloud metadata", "169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 168.63.129.16 ::ffff:a9fe:a9fe"],
  ["of cloud metadata", "fd00:ec2::254 FD00:0EC2:0::0254 fd20:ce::254"],
  ["reserved", "192.0.0.1 240.0.0.1 255.255.255.254 ::ffff:0:127.0.0.1 64:ff9b:0:0:0:1:a00:7 2001:10::1"],
  ["reserved", "2001:20::1 2001:1ff:ffff::1 1fff:ffff::1 4000::1 5f00::1"],
  ["for documentation", "192.0.2.1 198.51.100.1 203.0.113.255 2001:db8::1 3fff::1 3fff:fff:ffff::1"],
  ["a relay of 6to4", "192.88.99.1"],
  ["for benchmarks", "198.18.0.1 198.19.255.255 2001:2::1"],
  ["multicast", "224.0.0.1 239.255.255.255 ff02::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["broadcast", "255.255.255.255"],
  ["IPv4-compatible", "::2 ::127.0.0.1 ::8.8.8.8"],
  ["loopback, by NAT64", "64:ff9b::127.0.0.1"],
  ["private, by NAT64", "64:ff9b::a00:7"],
  ["of cloud metadata, by NAT64", "64:ff9b::a9fe:a9fe"],
  ["of a local NAT64", "64:ff9b:1::a00:7"],
  ["discarded", "100::1"],
  ["of Teredo", "2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  ["of 6to4", "2002:7f00:1::1 2002:808:808::1"],
  ["site-local", "fec0::1"],
  ["no address", "example.com 127.1 0177.0.0.1 0x7f000001 2130706433 8.8.8.8%eth0 [::1]"],
];

void t.test("every address has a kind, and alerts go to public ones only", (t) => {
  const all = kinds.flatMap(([kind, addresses]) => addresses.split(" ").map((address) => [kind, address] as const));
  for (const [kind, address] of [...all, ["no address", ""], ["no address", "8.8.8.8 "]] as const) {
    t.equal(kindOfAddress(address), kind, address);
    const problem = kind === "public" ? null : `${address} is ${kind}`;
    t.equal(problemOfAddress(address, false), problem);
    t.equal(problemOfAddress(address, true), kind === "loopback" ? null : problem);
  }
  t.end();
});

/** Whether this machine is allowed or not. */
function areRefused(t: Test, urls: [url: string, problem: string][]): void {
  for (const [url, problem] of urls)
    for (const allowLoopback of [false, true]) t.equal(problemOfUrl(url, allowLoopback), problem, url);
}

void t.test("a receiver's URL is checked", (t) => {
  const spaced =
    "https://example.com https://example.com:8443/alerts?key=secret#part HTTPS://EXAMPLE.COM/ https://bücher.example/ " +
    "https://xn--bcher-kva.example/ https://8.8.8.8/ https://[2606:4700:4700::1111]:444/ " +
    "https://localhost.example.com/ https://notlocalhost.com/ https://127.0.0.1.example.com/";
  const good = [...spaced.split(" "), ` https://example.com/\n`, `https://example.com/${"x".repeat(1980)}`];
  for (const url of good)
    for (const allowLoopback of [false, true]) t.equal(problemOfUrl(url, allowLoopback), null, url);
  t.end();
});

void t.test("spec: HTTPS only", (t) => {
  areRefused(t, [
    ["http://example.com/secret", "expected a URL with https:, got http: to example.com"],
    ["http://8.8.8.8/secret", "expected a URL with https:, got http: to 8.8.8.8"],
    ["http://localhost.example.com/", "expected a URL with https:, got http: to localhost.example.com"],
    ["ftp://example.com/secret", "expected a URL with https:, got ftp:"],
    ["file:///secret", "expected a URL with https:, got file:"],
    ["data:text/plain,secret", "expected a URL with https:, got data:"],
    ["blob:https://example.com/secret", "expected a URL with https:, got blob:"],
    ["wss://example.com/secret", "expected a URL with https:, got wss:"],
    ["unix:/secret", "expected a URL with https:, got unix:"],
  ]);
  for (const url of ["http://127.0.0.1:80/", "http://[::1]/", "http://localhost/"])
    t.equal(problemOfUrl(url, true), null, `allowed on this machine: ${url}`);
  t.end();
});

void t.test("a rejected URL is reported with its reason and without its secrets", (t) => {
  const noUrl = "expected a URL such as https://example.com/alerts, got something else";
  const withUser = "expected a URL without user and password, got one with them before";
  areRefused(t, [
    ...["", "secret", "//example.com/secret", "https://", "https://[::1"].map((url): [string, string] => [url, noUrl]),
    ["https://exa mple.com/secret", noUrl],
    ["https://example.com:65536/secret", noUrl],
    ["https://[fe80::1%25eth0]/secret", noUrl],
    ["https://999.1.1.1/secret", noUrl],
    ["https://user@example.com/", `${withUser} example.com`],
    ["https://:secret@example.com/", `${withUser} example.com`],
    ["https://example.com@10.0.0.7/", `${withUser} 10.0.0.7`],
    ["https://example.com./secret", "expected a host without a dot at its end, got example.com."],
    ["https://localhost./secret", "expected a host without a dot at its end, got localhost."],
    ["https://example.com:0/secret", "expected a port from 1 to 65535, got example.com:0"],
    ...[
      "abc.onion",
      "printer.local",
      "metadata.google.internal",
      "intranet",
      "router.home.arpa",
      "kubernetes.default.svc",
    ].map((host): [string, string] => [
      `https://${host}/secret`,
      `${host} is not a public name: public DNS has no such names`,
    ]),
    ["https://10.0.0.7/secret", "10.0.0.7 is private"],
    ["https://169.254.169.254/latest/meta-data/", "169.254.169.254 is of cloud metadata"],
    ["https://[fd00:ec2::254]/", "fd00:ec2::254 is of cloud metadata"],
    ["https://[64:ff9b::a00:7]/", "64:ff9b::a00:7 is private, by NAT64"],
    ["https://[::ffff:10.0.0.7]/", "::ffff:a00:7 is private"],
    ["https://0/", "0.0.0.0 is of this network"],
    [`https://example.com/${"x".repeat(1981)}`, "expected a URL of at most 2000 characters, got 2001"],
  ]);
  t.end();
});

void t.test("every spelling of this machine's own address is recognised", (t) => {
  const spellings: Record<string, string> = {
    "127.0.0.1":
      "127.0.0.1 127.0.0.1. 127.1 0x7f000001 0x7f.1 2130706433 017700000001 0177.0.0.1 %31%32%37.0.0.1 " +
      "①②⑦.0.0.1 127。0。0。1",
    "127.8.9.10": "127.8.9.10",
    "::1": "[::1] [0:0:0:0:0:0:0:1]",
    "::ffff:7f00:1": "[::ffff:127.0.0.1] [::ffff:7f00:1]",
    localhost: "localhost LocalHost ｌocalhost",
    "any.localhost": "any.localhost",
  };
  for (const [host, hosts] of Object.entries(spellings))
    for (const url of hosts.split(" ").flatMap((spelling) => [`https://${spelling}/`, `http://${spelling}/`])) {
      t.equal(problemOfUrl(url, false), `${host} is loopback`, url);
      t.equal(problemOfUrl(url, true), null, url);
    }
  t.end();
});
