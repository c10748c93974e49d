import type { Socket } from "node:net";
import { errorResponse, type Complaint } from "./wire-messages.js";

/** While this many bytes of answers wait for a client to read them, the client is not served. */
const unreadLimitBytes = 16 * 1024 * 1024;
/** How long an expelled client has to read the reason. */
const farewellMs = 1_000;

/** The socket of one client, until either side ends it. */
export interface ClientConnection {
  /** Has no effect once the client is gone. */
  write(bytes: Uint8Array): void;
  /** Whether the client reads too slowly to be served. */
  isClogged(): boolean;
  /** Bytes of answers that the client has not read. */
  unreadBytes(): number;
  isGone(): boolean;
  /** Sends the reason and hangs up. */
  expel: (complaint: Complaint) => void;
  hangUp(): void;
}

/** @param onGone called once, when the client has disconnected or was disconnected */
export function makeConnection(socket: Socket, onGone: () => void): ClientConnection {
  let gone = false;
  socket.setNoDelay(true);
  socket.on("end", leave);
  socket.on("close", leave);
  socket.on("error", leave);

  function hangUp(): void {
    socket.end();
    setTimeout(() => socket.destroy(), farewellMs).unref();
    leave();
  }

  function leave(): void {
    if (gone) return;
    gone = true;
    onGone();
  }

  return {
    write(bytes) {
      if (!gone) socket.write(bytes);
    },
    isClogged: () => socket.writableLength > unreadLimitBytes,
    unreadBytes: () => socket.writableLength,
    isGone: () => gone,
    expel(complaint) {
      if (gone) return;
      socket.write(errorResponse(complaint));
      hangUp();
    },
    hangUp,
  };
}
