import { units } from "../../engine/rules.js";
import {
  flag,
  generatedAt,
  instant,
  integer,
  list,
  object,
  oneOf,
  orNull,
  percent,
  text,
} from "./shapes.js";

const recognisedBy = {
  venues: list("The venues that turned bad there alone.", text("Registry id.")),
  measured: integer("How many the region measured then.", 1),
};

export const regionsResponse = object("The fleet of probes.", {
  generatedAt,
  regions: list(
    "Every region of the registry; a silent one is listed, never left out.",
    object("One region.", {
      id: text("Region id."),
      name: text("Name."),
      reporting: flag("Whether it shipped a sample within the last minute."),
      newestAt: orNull(instant("Slot of its newest sample.")),
      samplesLastHour: integer("Samples shipped."),
      goodPctLastHour: orNull(percent("Share of them that were good.")),
      probeVersion: orNull(text("Build of the probe.")),
      probeStartedAt: orNull(instant("When that probe started.")),
      unmeasuredSlots: orNull(
        integer(
          "Slots not measured since then, for reasons of our own or by courtesy to a venue.",
        ),
      ),
      impaired: orNull(
        object(
          "Trouble of the region's own: it goes on measuring, and has no vote. Null when it has none, and while the engine is silent.",
          {
            since: instant("The instant at which the first of it showed."),
            recognisedAt: instant("The tick that recognised it."),
            ...recognisedBy,
            reason: text("The same in words."),
          },
        ),
      ),
      impairments: list(
        "What was recorded of it in the last seven days, the present one included; newest first.",
        object("One of them.", {
          startedAt: instant("The instant at which the first of it showed."),
          recognisedAt: instant("The tick that recognised it."),
          endedAt: orNull(instant("The tick that ended it; null until then.")),
          ...recognisedBy,
        }),
      ),
    }),
  ),
  quorum: integer(
    "A simple majority of the regions that report now and are not impaired: how many must agree.",
    1,
  ),
});

export const thresholdsResponse = object(
  "The rules of this build of the engine.",
  {
    generatedAt,
    version: text("Build of the engine."),
    rules: list(
      "Every constant of the engine.",
      object("One rule.", {
        name: text("Name; RULEBOOK.md says what it does."),
        value: { type: "number", description: "Value." },
        unit: oneOf(
          units,
          "Its unit. share is of one; times is a multiple of what is usual; cadences are of the component that is judged.",
        ),
        reason: text("Why it is what it is."),
      }),
    ),
    stalls: list(
      "One a stream.",
      object("Stall threshold of one stream.", {
        venue: text("Registry id."),
        component: text("ws:<name>."),
        afterMs: integer("Silence beyond this is a stall.", 1),
        typicalPerMinute: {
          type: "number",
          minimum: 0,
          description: "Usual data frames a minute.",
        },
        rateBasis: oneOf(
          ["documented", "probed", "estimate"],
          "Where that number comes from.",
        ),
        distribution: orNull(
          object(
            "The measured quiet periods that it was read off; null while it is reckoned from the usual rate.",
            {
              periods: integer("Periods measured."),
              from: text("First day."),
              to: text("Last day."),
              p50Ms: integer("Median."),
              p99Ms: integer("99th percentile."),
              p999Ms: integer("99.9th percentile."),
            },
          ),
        ),
      }),
    ),
  },
);

export const healthResponse = object("A sign of life that asks no database.", {
  status: oneOf(["ok"], "Always ok: a program that is not does not answer."),
  service: oneOf(["core", "web", "probe"], "The program."),
  version: text("Its build."),
  uptimeSeconds: integer("Since it started."),
  time: instant("Its clock."),
  generatedAt: instant("The same."),
});

export const problem = {
  ...object("An error, by RFC 9457.", {
    type: text("about:blank: the status says it all."),
    title: text("The status in words."),
    status: integer("The HTTP status.", 400),
    detail: text("What was wrong and what to do."),
    errors: list(
      "With 400: every parameter that is not usable.",
      object("One of them.", {
        parameter: text("Its name."),
        message: text("What was expected, and what came."),
      }),
    ),
  }),
  required: ["type", "title", "status", "detail"],
};
