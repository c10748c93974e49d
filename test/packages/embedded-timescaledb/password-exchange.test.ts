/** The embedded database's logins: SCRAM-SHA-256 as in RFC 7677, and nothing else. */
import t from "tap";
import { startPasswordExchange } from "@venuewatch/embedded-timescaledb/internals/password-exchange";
import { proves, parseVerifier, scramVerifier, serverSignature } from "@venuewatch/embedded-timescaledb/scram";
import { type Changes, finalMessage } from "../../support/scram-client.js";

void t.test("the example of RFC 7677 succeeds", (t) => {
  const salt = Buffer.from("W22ZaJ0SNY7soEsUEjb6gQ==", "base64");
  const verifier = parseVerifier(scramVerifier("pencil", salt))!;
  const nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
  const message = `n=user,r=rOprNGfwEbeRWgbNEkqO,r=${nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=${nonce}`;
  const proof = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
  t.ok(proves(verifier, message, Buffer.from(proof, "base64")));
  t.equal(serverSignature(verifier, message).toString("base64"), "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
  t.end();
});

const verifier = scramVerifier("right");
const exchangeOf = (user: string, known: string | null = verifier) =>
  startPasswordExchange(user, known, "the owner's password");

void t.test("malformed first messages are refused", (t) => {
  for (const [what, message] of [
    ["channel binding", "p=tls-server-end-point,,n=,r=abc"],
    ["another identity", "n,a=admin,n=,r=abc"],
    ["a mandatory extension", "n,,m=ext,n=,r=abc"],
    ["an extension at the end", "n,,n=,r=abc,x=1"],
    ["no nonce", "n,,n=,r="],
    ["a nonce with a comma", "n,,n=,r=a,b"],
    ["a nonce that cannot be printed", "n,,n=,r=a\u0001"],
    ["nothing", ""],
  ] as const)
    t.throws(() => exchangeOf("guest").challenge(message), /^expected a client-first-message of SCRAM-SHA-256/, what);
  t.end();
});

void t.test("only a correct proof is accepted", (t) => {
  const outcome = (password: string, changes: Changes = {}, known: string | null = verifier) => {
    const exchange = exchangeOf("guest", known);
    const challenge = exchange.challenge("n,,n=,r=abc");
    return exchange.confirm(finalMessage(password, "n=,r=abc", challenge, changes));
  };
  t.match(outcome("right"), /^v=/);
  t.equal(outcome("wrong"), null, "a proof of another password");
  t.equal(outcome("right", {}, null), null, "a proof of a user who does not exist");
  t.equal(outcome("right", {}, "md5abc"), null, "a user with an md5 hash");
  t.equal(outcome("right", { proof: (right) => right.subarray(1) }), null, "short");
  t.equal(outcome("right", { proof: (right) => Buffer.concat([right, right]) }), null, "long");
  for (const [what, change] of [
    ["an empty proof", { proof: () => Buffer.from("") }],
    ["an unrequested channel binding", { binding: "eSws" }],
    ["only the client's nonce", { nonce: "abc" }],
    ["the nonce of another exchange", { nonce: "abcdefghijkl" }],
  ] as const)
    t.throws(() => outcome("right", change), /client-final-message/, what);
  t.end();
});

void t.test("unknown users get challenges like those of known users", (t) => {
  const parts = (user: string, known: string | null, secret = "the owner's password") => {
    const exchange = startPasswordExchange(user, known, secret);
    const challenge = exchange.challenge("n,,n=,r=abc");
    const [, nonce, salt, rounds] = /^r=abc(.*),s=(.*),i=(\d+)$/.exec(challenge)!;
    return { nonce: nonce!, salt: salt!, rounds };
  };
  const real = parts("guest", verifier);
  const decoy = parts("nobody", null);
  const form = ({ nonce, salt, rounds }: typeof real) => [nonce.length, salt.length, rounds];
  t.same(form(decoy), form(real));
  t.equal(parts("nobody", null).salt, decoy.salt, "the salt of an unknown user does not change");
  t.not(parts("no one", null).salt, decoy.salt, "two unknown users have different salts");
  t.not(parts("nobody", null).nonce, decoy.nonce);
  t.not(parts("nobody", null, "another password").salt, decoy.salt, "the salt cannot be computed without the password");
  t.equal(decoy.salt, "PhBA2GAKDLbACopsNjCCyQ==", "the salt is the same after a restart");
  t.end();
});
