import type { Stream } from "../server/registry.js";
import {
  compileEventTime,
  compileFrameCheck,
  type FrameCheck,
} from "./checks.js";
import { makeMeter, type Meter } from "./meter.js";

/** A stream as it is listened to. It outlives the sockets that carry it. */
export interface Feed {
  stream: Stream;
  isData: FrameCheck;
  eventTimeMs(frame: unknown): number | null;
  meter: Meter;
  /** The venue refused the subscription, and has sent nothing since. */
  refused: boolean;
}

export function makeFeed(stream: Stream): Feed {
  return {
    stream,
    isData: compileFrameCheck(stream),
    eventTimeMs: compileEventTime(stream),
    meter: makeMeter(),
    refused: false,
  };
}
