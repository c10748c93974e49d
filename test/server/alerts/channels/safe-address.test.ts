/** The addresses and URLs to which alerts may be sent. */
import t from "tap";
import { kindOfAddress, problemOfAddress } from "../../../../server/http/safe-address.js";
import { problemOfUrl } from "../../../../server/alerts/channels/safe-url.js";

const kinds: [address: string, kind: string][] = [
  ["1.1.1.1", "public"],
  ["8.8.8.8", "public"],
  ["9.255.255.255", "public"],
  ["11.0.0.0", "public"],
  ["100.63.255.255", "public"],
  ["100.128.0.0", "public"],
  ["126.255.255.255", "public"],
  ["128.0.0.0", "public"],
  ["168.63.129.15", "public"],
  ["169.253.255.255", "public"],
  ["169.255.0.0", "public"],
  ["172.15.255.255", "public"],
  ["172.32.0.0", "public"],
  ["192.0.1.0", "public"],
  ["192.167.255.255", "public"],
  ["192.169.0.0", "public"],
  ["198.17.255.255", "public"],
  ["198.20.0.0", "public"],
  ["223.255.255.255", "public"],
  ["0.0.0.0", "of this network"],
  ["0.255.255.255", "of this network"],
  ["10.0.0.0", "private"],
  ["10.0.0.7", "private"],
  ["10.255.255.255", "private"],
  ["172.16.0.0", "private"],
  ["172.31.255.255", "private"],
  ["192.168.0.1", "private"],
  ["192.168.255.255", "private"],
  ["100.64.0.0", "shared by carriers (CGNAT)"],
  ["100.127.255.255", "shared by carriers (CGNAT)"],
  ["127.0.0.1", "loopback"],
  ["127.255.255.255", "loopback"],
  ["169.254.0.1", "link-local"],
  ["169.254.255.255", "link-local"],
  ["169.254.169.254", "of cloud metadata"],
  ["169.254.170.2", "of cloud metadata"],
  ["100.100.100.200", "of cloud metadata"],
  ["192.0.0.192", "of cloud metadata"],
  ["168.63.129.16", "of cloud metadata"],
  ["192.0.0.1", "reserved"],
  ["192.0.2.1", "for documentation"],
  ["198.51.100.1", "for documentation"],
  ["203.0.113.255", "for documentation"],
  ["192.88.99.1", "a relay of 6to4"],
  ["198.18.0.1", "for benchmarks"],
  ["198.19.255.255", "for benchmarks"],
  ["224.0.0.1", "multicast"],
  ["239.255.255.255", "multicast"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.254", "reserved"],
  ["255.255.255.255", "broadcast"],

  ["2606:4700:4700::1111", "public"],
  ["2a00:1450:4001:81b::200e", "public"],
  ["2001:200::1", "public"],
  ["2001:db7:ffff::1", "public"],
  ["2001:db9::1", "public"],
  ["2003::1", "public"],
  ["2000::", "public"],
  ["3ffe:ffff::1", "public"],
  ["3fff:1000::1", "public"],
  ["::", "of this network"],
  ["::1", "loopback"],
  ["0:0:0:0:0:0:0:1", "loopback"],
  ["0000:0000:0000:0000:0000:0000:0000:0001", "loopback"],
  ["::2", "IPv4-compatible"],
  ["::127.0.0.1", "IPv4-compatible"],
  ["::8.8.8.8", "IPv4-compatible"],
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["0:0:0:0:0:FFFF:7F00:0001", "loopback"],
  ["::ffff:10.0.0.7", "private"],
  ["::ffff:a9fe:a9fe", "of cloud metadata"],
  ["::ffff:8.8.8.8", "public"],
  ["::ffff:0:127.0.0.1", "reserved"],
  ["64:ff9b::8.8.8.8", "public"],
  ["64:ff9b::127.0.0.1", "loopback, by NAT64"],
  ["64:ff9b::a00:7", "private, by NAT64"],
  ["64:ff9b::a9fe:a9fe", "of cloud metadata, by NAT64"],
  ["64:ff9b:0:0:0:1:a00:7", "reserved"],
  ["64:ff9b:1::a00:7", "of a local NAT64"],
  ["100::1", "discarded"],
  ["2001::1", "of Teredo"],
  ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "of Teredo"],
  ["2001:2::1", "for benchmarks"],
  ["2001:10::1", "reserved"],
  ["2001:20::1", "reserved"],
  ["2001:1ff:ffff::1", "reserved"],
  ["2001:db8::1", "for documentation"],
  ["3fff::1", "for documentation"],
  ["3fff:fff:ffff::1", "for documentation"],
  ["2002:7f00:1::1", "of 6to4"],
  ["2002:808:808::1", "of 6to4"],
  ["1fff:ffff::1", "reserved"],
  ["4000::1", "reserved"],
  ["5f00::1", "reserved"],
  ["fc00::1", "private"],
  ["fdff:ffff::1", "private"],
  ["fd00:ec2::254", "of cloud metadata"],
  ["FD00:0EC2:0::0254", "of cloud metadata"],
  ["fd20:ce::254", "of cloud metadata"],
  ["fd00:ec2::253", "private"],
  ["fe80::1", "link-local"],
  ["fe80::1%eth0", "link-local"],
  ["2606:4700::1%eth0", "link-local"],
  ["febf:ffff::1", "link-local"],
  ["fec0::1", "site-local"],
  ["ff02::1", "multicast"],
  ["ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"],

  ["", "no address"],
  ["example.com", "no address"],
  ["127.1", "no address"],
  ["0177.0.0.1", "no address"],
  ["0x7f000001", "no address"],
  ["2130706433", "no address"],
  ["8.8.8.8 ", "no address"],
  ["8.8.8.8%eth0", "no address"],
  ["[::1]", "no address"],
];

void t.test("every address has a kind, and alerts go to public ones only", (t) => {
  for (const [address, kind] of kinds) {
    t.equal(kindOfAddress(address), kind, address);
    const problem = kind === "public" ? null : `${address} is ${kind}`;
    t.equal(problemOfAddress(address, false), problem);
    const isHere = kind === "loopback";
    t.equal(problemOfAddress(address, true), isHere ? null : problem);
  }
  t.end();
});

void t.test("a receiver's URL is checked", (t) => {
  const good = [
    "https://example.com",
    "https://example.com:8443/alerts?key=secret#part",
    "HTTPS://EXAMPLE.COM/",
    "https://bücher.example/",
    "https://xn--bcher-kva.example/",
    "https://8.8.8.8/",
    "https://[2606:4700:4700::1111]:444/",
    "https://localhost.example.com/",
    "https://notlocalhost/",
    "https://127.0.0.1.example.com/",
    ` https://example.com/\n`,
    `https://example.com/${"x".repeat(1980)}`,
  ];
  for (const url of good)
    for (const allowLoopback of [false, true]) t.equal(problemOfUrl(url, allowLoopback), null, url);
  t.end();
});

void t.test("spec: HTTPS only", (t) => {
  const bad: [url: string, problem: string][] = [
    ["http://example.com/secret", "expected a URL with https:, got http: to example.com"],
    ["http://8.8.8.8/secret", "expected a URL with https:, got http: to 8.8.8.8"],
    ["http://localhost.example.com/", "expected a URL with https:, got http: to localhost.example.com"],
    ["ftp://example.com/secret", "expected a URL with https:, got ftp:"],
    ["file:///secret", "expected a URL with https:, got file:"],
    ["data:text/plain,secret", "expected a URL with https:, got data:"],
    ["blob:https://example.com/secret", "expected a URL with https:, got blob:"],
    ["wss://example.com/secret", "expected a URL with https:, got wss:"],
    ["unix:/secret", "expected a URL with https:, got unix:"],
  ];
  for (const [url, problem] of bad)
    for (const allowLoopback of [false, true]) t.equal(problemOfUrl(url, allowLoopback), problem, url);
  for (const url of ["http://127.0.0.1:80/", "http://[::1]/", "http://localhost/"])
    t.equal(problemOfUrl(url, true), null, `allowed on this machine: ${url}`);
  t.end();
});

void t.test("a rejected URL is reported with its reason and without its secrets", (t) => {
  const noUrl = "expected a URL such as https://example.com/alerts, got something else";
  const bad: [url: string, problem: string][] = [
    ["", noUrl],
    ["secret", noUrl],
    ["//example.com/secret", noUrl],
    ["https://", noUrl],
    ["https://exa mple.com/secret", noUrl],
    ["https://example.com:65536/secret", noUrl],
    ["https://[fe80::1%25eth0]/secret", noUrl],
    ["https://[::1", noUrl],
    ["https://999.1.1.1/secret", noUrl],
    ["https://user@example.com/", "expected a URL without user and password, got one with them before example.com"],
    ["https://:secret@example.com/", "expected a URL without user and password, got one with them before example.com"],
    ["https://example.com@10.0.0.7/", "expected a URL without user and password, got one with them before 10.0.0.7"],
    ["https://example.com./secret", "expected a host without a dot at its end, got example.com."],
    ["https://localhost./secret", "expected a host without a dot at its end, got localhost."],
    ["https://example.com:0/secret", "expected a port from 1 to 65535, got example.com:0"],
    ...["abc.onion", "printer.local", "metadata.google.internal"].map((host): [string, string] => [
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
  ];
  for (const [url, problem] of bad)
    for (const allowLoopback of [false, true]) t.equal(problemOfUrl(url, allowLoopback), problem, url);
  t.end();
});

void t.test("every spelling of this machine's own address is recognised", (t) => {
  const spellings: [host: string, shown: string][] = [
    ["127.0.0.1", "127.0.0.1"],
    ["127.0.0.1.", "127.0.0.1"],
    ["127.1", "127.0.0.1"],
    ["0x7f000001", "127.0.0.1"],
    ["0x7f.1", "127.0.0.1"],
    ["2130706433", "127.0.0.1"],
    ["017700000001", "127.0.0.1"],
    ["0177.0.0.1", "127.0.0.1"],
    ["①②⑦.0.0.1", "127.0.0.1"],
    ["127。0。0。1", "127.0.0.1"],
    ["%31%32%37.0.0.1", "127.0.0.1"],
    ["127.8.9.10", "127.8.9.10"],
    ["[::1]", "::1"],
    ["[0:0:0:0:0:0:0:1]", "::1"],
    ["[::ffff:127.0.0.1]", "::ffff:7f00:1"],
    ["[::ffff:7f00:1]", "::ffff:7f00:1"],
    ["localhost", "localhost"],
    ["LocalHost", "localhost"],
    ["any.localhost", "any.localhost"],
    ["ｌocalhost", "localhost"],
  ];
  for (const [host, shown] of spellings) {
    t.equal(problemOfUrl(`https://${host}/`, false), `${shown} is loopback`);
    t.equal(problemOfUrl(`https://${host}/`, true), null, host);
    t.equal(problemOfUrl(`http://${host}/`, false), `${shown} is loopback`);
    t.equal(problemOfUrl(`http://${host}/`, true), null, host);
  }
  t.end();
});
