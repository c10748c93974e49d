import { flag, instant, named, object, orNull, text } from "./shapes.js";

export const subjectMatched = {
  ...flag(
    "Always false: nothing tests that a notice describes the same fault.",
    false,
  ),
  const: false,
};

/**
 * A notice as it will be written once notices are read. Null is allowed where some venue's kind of notice has no such thing: to
 * take it away later breaks no client, to add it would.
 */
export const officialIncident = named(
  "OfficialIncident",
  object("A notice of the venue's own. None is read yet.", {
    id: text("Name that the venue gave the notice.", "x1b2c3"),
    title: text("Title of the notice.", "Degraded REST API"),
    url: orNull(
      text(
        "Its page; null where it has none.",
        "https://status.kraken.com/incidents/x1",
      ),
    ),
    startedAt: instant("When it began, as the venue says."),
    resolvedAt: orNull(
      instant("When it was over, as the venue says; null until then."),
    ),
    subjectMatched,
  }),
);
