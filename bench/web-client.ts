/**
 * A client in a separate process, so that its cost is not counted as the server's. It requests `path` from `port` over
 * that many connections for that many seconds (0: each connection asks once) in that encoding, and reports to its
 * parent how many answers and bytes arrived.
 */
import { connect, type Socket } from "node:net";

const [port, path, connections, seconds, encoding] = process.argv.slice(2);
const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${encoding}\r\n\r\n`;
const startMs = performance.now();
const untilMs = startMs + Number(seconds) * 1000;
const taken = { answers: 0, bytes: 0 };

await Promise.all(Array.from({ length: Number(connections) }, ask));
const tookMs = performance.now() - startMs;
process.send!({ ...taken, tookMs });

function ask(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1", () => {
      socket.write(request);
    });
    socket.setNoDelay(true);
    const onData = readAnswers(socket, () => {
      if (performance.now() < untilMs) return socket.write(request);
      socket.destroy();
      resolve();
    });
    socket.on("data", onData).on("error", reject);
    socket.on("close", () => reject(new Error("the server hung up")));
  });
}

/** Calls `onAnswer` at the end of each answer; only the length of its body is checked. */
function readAnswers(socket: Socket, onAnswer: () => void) {
  let head = "";
  let left: number | "chunks" | null = null;
  let end = "";
  return (piece: Buffer) => {
    taken.bytes += piece.length;
    let length = piece.length;
    if (left === null) {
      head += piece.toString("latin1");
      const bodyAt = head.indexOf("\r\n\r\n") + 4;
      if (bodyAt < 4) return;
      if (!head.startsWith("HTTP/1.1 200 ")) {
        socket.destroy(new Error(`expected 200, got ${head.slice(0, 200)}`));
        return;
      }
      const declared = /^content-length: (\d+)/im.exec(head.slice(0, bodyAt));
      left = declared ? Number(declared[1]) : "chunks";
      length = head.length - bodyAt;
      head = "";
    }
    if (left === "chunks") {
      end = (end + piece.subarray(-7).toString("latin1")).slice(-7);
      if (end !== "\r\n0\r\n\r\n") return;
    } else {
      left -= length;
      if (left > 0) return;
    }
    left = null;
    taken.answers++;
    onAnswer();
  };
}
