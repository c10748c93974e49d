/** An event of a stream of Server-Sent Events. */
export interface StreamEvent {
  /** The newest id of the stream, this event's or an earlier one's. */
  id: string;
  event: string;
  /** Empty: an event that only moves the id on, as a heartbeat does. */
  data: string;
}

/** Longer than any event of the service. */
const mostChars = 65_536;

/**
 * Makes a parser of the text of a stream, which may come in pieces that end anywhere. An unfinished event at the end of
 * the text does not count.
 *
 * @param onRetry receives the time after which the service wants its clients to come back
 * @returns the parser, which returns the number of lines that ended in a text
 * @throws Error (the parser) for a line or an event that does not end
 */
export function makeParser(
  onEvent: (event: StreamEvent) => void,
  onRetry: (ms: number) => void,
): (text: string) => number {
  const lineEnd = /[\r\n]/g;
  let rest = "";
  let searched = 0;
  let afterReturn = false;
  let id = "";
  let event = "";
  let data: string[] = [];
  let length = 0;

  function line(text: string): void {
    if (text === "") {
      onEvent({ id, event: event || "message", data: data.join("\n") });
      [event, data, length] = ["", [], 0];
      return;
    }
    const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(text)!;
    // also of lines without a value, or they would fill the memory
    length += text.length + 1;
    if (length > mostChars) throw endless();
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
    else if (field === "id" && !value.includes("\0")) id = value;
    else if (field === "retry" && /^\d{1,9}$/.test(value)) onRetry(Number(value));
  }

  return (text) => {
    if (text === "") return 0;
    // the rest of a line end that a piece has cut in two
    rest += afterReturn && text.startsWith("\n") ? text.slice(1) : text;
    afterReturn = false;
    let [from, lines] = [0, 0];
    lineEnd.lastIndex = searched;
    for (let end = lineEnd.exec(rest); end; end = lineEnd.exec(rest)) {
      line(rest.slice(from, end.index));
      lines++;
      from = end.index + 1;
      if (end[0] === "\r") {
        if (rest[from] === "\n") from++;
        else afterReturn = from === rest.length;
      }
      lineEnd.lastIndex = from;
    }
    rest = rest.slice(from);
    searched = rest.length;
    if (rest.length > mostChars) throw endless();
    return lines;
  };
}

function endless(): Error {
  return new Error(`expected events of at most ${mostChars} characters, got a longer one`);
}
