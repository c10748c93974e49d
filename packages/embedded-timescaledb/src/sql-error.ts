import type { Complaint } from "./wire-messages.js";

/** A statement of the host's own has failed with this error. */
export class SqlError extends Error {
  constructor(readonly complaint: Complaint) {
    super(complaint.message);
  }
}
