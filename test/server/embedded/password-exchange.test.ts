/** The embedded database's logins: SCRAM-SHA-256 as RFC 7677 has it, and nothing else. */
import t from "tap";
import { startPasswordExchange } from "../../../server/embedded/password-exchange.js";
import { proves, parseVerifier, scramVerifier, serverSignature } from "../../../server/database/scram.js";
import { type Changes, finalMessage } from "../../support/scram-client.js";

void t.test("the example of RFC 7677", (t) => {
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

void t.test("first messages that are refused", (t) => {
  for (const [what, message] of [
    ["channel binding", "p=tls-server-end-point,,n=,r=abc"],
    ["another identity", "n,a=admin,n=,r=abc"],
    ["an extension that must be known", "n,,m=ext,n=,r=abc"],
    ["one at the end", "n,,n=,r=abc,x=1"],
    ["no nonce", "n,,n=,r="],
    ["a nonce with a comma", "n,,n=,r=a,b"],
    ["a nonce that cannot be printed", "n,,n=,r=a\u0001"],
    ["nothing", ""],
  ] as const)
    t.throws(() => exchangeOf("guest").challenge(message), /client-first-message of SCRAM-SHA-256 was expected/, what);
  t.end();
});

void t.test("proofs", (t) => {
  const outcome = (password: string, changes: Changes = {}, known: string | null = verifier) => {
    const exchange = exchangeOf("guest", known);
    const challenge = exchange.challenge("n,,n=,r=abc");
    return exchange.confirm(finalMessage(password, "n=,r=abc", challenge, changes));
  };
  t.match(outcome("right"), /^v=/);
  t.equal(outcome("wrong"), null, "of another password");
  t.equal(outcome("right", {}, null), null, "of a user who does not exist");
  t.equal(outcome("right", {}, "md5abc"), null, "where an md5 hash is kept");
  for (const [what, change] of [
    ["empty", () => Buffer.from("")],
    ["short", (right: Buffer) => right.subarray(1)],
    ["long", (right: Buffer) => Buffer.concat([right, right])],
  ] as const) {
    const attempt = () => outcome("right", { proof: change });
    if (what === "empty") t.throws(attempt, /client-final-message/, what);
    else t.equal(attempt(), null, what);
  }
  for (const [what, change] of [
    ["a binding that was not asked for", { binding: "eSws" }],
    ["the nonce of the client alone", { nonce: "abc" }],
    ["the nonce of another exchange", { nonce: "abcdefghijkl" }],
  ] as const)
    t.throws(() => outcome("right", change), /client-final-message/, what);
  t.end();
});

void t.test("challenges of unknown users", (t) => {
  const parts = (user: string, known: string | null, secret = "the owner's password") => {
    const exchange = startPasswordExchange(user, known, secret);
    const challenge = exchange.challenge("n,,n=,r=abc");
    const [, nonce, salt, rounds] = /^r=abc(.*),s=(.*),i=(\d+)$/.exec(challenge)!;
    return { nonce: nonce!, salt: salt!, rounds };
  };
  const real = parts("guest", verifier);
  const decoy = parts("nobody", null);
  t.equal(decoy.rounds, real.rounds);
  t.equal(decoy.nonce.length, real.nonce.length);
  t.equal(decoy.salt.length, real.salt.length);
  t.equal(parts("nobody", null).salt, decoy.salt, "stay, as those of others do");
  t.not(parts("no one", null).salt, decoy.salt, "and differ");
  t.not(parts("nobody", null).nonce, decoy.nonce);
  t.not(parts("nobody", null, "another password").salt, decoy.salt, "nobody can compute them");
  t.equal(decoy.salt, "PhBA2GAKDLbACopsNjCCyQ==", "they outlast the process");
  t.end();
});
