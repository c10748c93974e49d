/** The German texts of the pages, by their English ones: see `language.ts`. */
import { ofBoard } from "./board.js";
import { ofComparisons } from "./comparisons.js";
import { ofIncidents } from "./incidents.js";
import { ofVenue } from "./venue.js";

export const german = { ...ofBoard, ...ofVenue, ...ofIncidents, ...ofComparisons };
