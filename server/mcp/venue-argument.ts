import { text, type Schema } from "../api/schemas/shapes.js";

/** Which venue is meant. */
export const venueArgument: Schema<string> = {
  ...text("A venue's id or name, such as `okx`, `binance-futures` or `Kraken`.", "okx"),
  minLength: 1,
  maxLength: 80,
};
