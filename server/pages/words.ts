/** Every text of the pages that is not data: only the files in words/ are to be translated. */
export * from "./words/site.js";
export * from "./words/board.js";
export * from "./words/fleet.js";
export * from "./words/incident.js";
export * from "./words/venue.js";
export * from "./words/docs.js";
export * from "./words/embed.js";
