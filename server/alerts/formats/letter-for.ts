import type { Alert } from "./alert.js";
import { chatLetter } from "./chat.js";
import { nativeLetter } from "./native.js";
import { pagingLetter } from "./paging.js";
import { type Letter, type Destination, type Sent } from "./letter.js";

/** An alert as this destination takes it. Whatever the venue's texts are, it is within the receiver's documented limits. */
export function letterFor(to: Destination, alert: Alert, sent: Sent): Letter {
  switch (to.format) {
    case "native":
      return nativeLetter(to, alert, sent);
    case "chat":
      return chatLetter(to, alert, sent);
    case "paging":
      return pagingLetter(to, alert, sent);
  }
}
