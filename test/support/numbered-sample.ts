/** Samples whose number can be read from every value. */
import { sql } from "../../shared/database/pool.js";
import type { Sample } from "../../shared/measurement/sample.js";
import { madeSample } from "./made-sample.js";

/** @param from the slot of number 0, milliseconds */
export function numberedSample(number: number, from: number): Sample {
  return madeSample({
    slotAt: new Date(from + number),
    latencyUs: number,
    connectUs: 2 * number,
    messages: number % 1000,
    head: number + 5_000_000_000,
  });
}

/** Returns SQL for the number of a row of `sample`, or null where its values are not of one sample. */
export function numberIn(from: number) {
  return sql`
    case when connect_us = 2 * latency_us and messages = latency_us % 1000 and head = latency_us + 5000000000
      and good and http_status = 200 and ts = to_timestamp((${from}::bigint + latency_us) / 1000.0)
    then latency_us end`;
}
