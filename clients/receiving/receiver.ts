import { createServer } from "node:http";
import { isSigned } from "./verify.js";

const { SECRET = "", PORT = "9000" } = process.env;
const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const body = Buffer.concat(pieces);
    const ours = isSigned(body, request.headers["x-svc-signature"], SECRET);
    response.writeHead(ours ? 204 : 401).end();
    console.log(ours ? body.toString() : "refused");
  });
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(server.address()));
