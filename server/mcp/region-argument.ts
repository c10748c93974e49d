import { text, type Schema } from "../api/schemas/shapes.js";

/** Whose view is asked for. */
export const regionArgument: Schema<string> = {
  ...text(
    "A region's id, such as `us-east`: what is seen from there alone. Use it where the user says from where they ask. Without it, the answer is what a majority of all regions sees, and it names those that see it otherwise.",
    "us-east",
  ),
  minLength: 1,
  maxLength: 80,
};
