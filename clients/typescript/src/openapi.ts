/** Made of the API's description by `make clients`. Do not edit. */
export interface paths {
  "/v1/status": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The live board: every venue with its last ninety days and last 24 hours
     * @description The category narrows the rows and the fleet numbers together; it does not narrow `summary.categories`.
     */
    get: operations["getStatus"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/targets/{venue}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * One venue in detail
     * @description `region` selects the vantage point of the latency chart, the endpoints and the streams; `state`, `days` and `uptimePct90d` combine all regions by quorum. With `range=7d` a body may be up to half a minute old while nothing changes, see `generatedAt`. A renamed venue is found under its former ids too; `exchange.id` is the present one. With `format=csv` or `format=xlsx`, the answer is that of /v1/targets/{venue}/days.csv or /v1/targets/{venue}/days.xlsx.
     */
    get: operations["getTarget"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/exchanges/{venue}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The same bytes as /v1/targets/{venue}
     * @description The older path. It is kept indefinitely and not deprecated; prefer /v1/targets/{venue} for new integrations.
     */
    get: operations["getExchange"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/targets/{venue}/state": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The state of one venue and of its components
     * @description For programs that ask often: about a kilobyte, where /v1/targets/{venue} has more than a hundred. With `region`, it is what that region alone sees: one region confirms nothing, but tells a venue that is down from one that does not answer there. The page of an incident is /incidents/{slug}.
     */
    get: operations["getTargetState"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/exchanges/{venue}/state": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The same bytes as /v1/targets/{venue}/state */
    get: operations["getExchangeState"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/reliability": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The venues compared over a window
     * @description Computed from roll-ups; every definition is at /methodology. `fleet` covers only the rows of this response. A body may be up to half a minute old while nothing changes, see `generatedAt`. With `format=csv` or `format=xlsx`, the answer is that of /v1/reliability.csv or /v1/reliability.xlsx.
     */
    get: operations["getReliability"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/incidents": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The history of incidents, newest first
     * @description For the next page, pass the last incident's `startedAt` as `before` and its `id` as `beforeId`: several incidents may have started at one instant. A page shorter than `limit` is the last. `beforeId` requires `before`. With `format=csv` or `format=xlsx`, the answer is that of /v1/incidents.csv or /v1/incidents.xlsx.
     */
    get: operations["listIncidents"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/incidents/{slug}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * One incident with the votes behind it
     * @description A slug never changes. For a retracted incident, the 404 says when and why it was retracted (`retractedAt`, `reason`); no other response of the API shows it. Feeds replace its entry by the retraction.
     */
    get: operations["getIncident"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/detection": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Our incidents against the venues' own notices
     * @description Includes which venues are compared, and on how many days. /comparing explains each number, with SQL that recomputes it.
     */
    get: operations["getDetection"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/notify": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** How soon alerts arrive */
    get: operations["getNotify"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/regions": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The fleet of probes and its quorum */
    get: operations["getRegions"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/v1/thresholds": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The rules of the engine, with their reasons
     * @description /rulebook explains each rule. They change only with a deployment, and each change is dated at /changelog.
     */
    get: operations["getThresholds"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /**
     * @description As confirmed by a quorum of the counted regions; unknown if there is no evidence.
     * @enum {string}
     */
    State: "operational" | "degraded" | "outage" | "unknown";
    /** @description Why a component is unknown although it is measured. */
    UnknownBecause: {
      /**
       * @description never: no region has seen it good by its present entry in the registry. ended: its entry has ended. blocked: the venue refuses the only place that we measure it from.
       * @enum {string}
       */
      reason: "never" | "ended" | "blocked";
      /** @description The same in words, with what to do. */
      detail: string;
    };
    /**
     * @description How bad an incident is.
     * @enum {string}
     */
    Severity: "degraded" | "outage";
    /**
     * @description Category of the venue.
     * @enum {string}
     */
    Category: "exchange" | "rpc" | "market-data" | "oracle" | "stablecoin" | "bridge" | "ramp";
    /** @description An official notice of the venue. Its texts and times are the venue's: escape them before display. */
    OfficialIncident: {
      /** @description The venue's id of the notice; if its feed has none, its text and when we first saw it. */
      id: string;
      /** @description Title of the notice. */
      title: string;
      /** @description Its page; null if it has none. */
      url: string | null;
      /**
       * @description other: an incident of the venue about something that we do not measure (deposits, listings), recognised by words in the registry. Only kind incident is compared with our incidents.
       * @enum {string}
       */
      kind: "incident" | "maintenance" | "other";
      /** @description In the venue's own words. */
      status: string;
      /** @description In the venue's own words; null if it gives none. */
      impact: string | null;
      /**
       * Format: date-time
       * @description When it began, according to the venue; if the venue does not say, when we first saw it.
       */
      startedAt: string;
      /** @description When the venue published it. If its feed does not say, our last reading without it, so it was published after that; null if there was no reading shortly before. */
      postedAt: string | null;
      /** @description When it was over, according to the venue; null until then. For a feed that lists only current notices, our first reading without it. */
      resolvedAt: string | null;
      /**
       * Format: date-time
       * @description The first of our readings that had it.
       */
      firstSeenAt: string;
      /**
       * Format: date-time
       * @description The newest of our readings that had it.
       */
      lastSeenAt: string;
      /** @description Whether the venue removed it: it left the feed although the feed reaches back that far, or before it was over. It is kept here. */
      vanished: boolean;
      /** @description Whether its times are implausible: in the future, more than a year before it was first seen, or over before it began. Such a notice is not compared. */
      timesDoubtful: boolean;
      /** @description Always false: nothing tests that a notice describes the same fault. */
      subjectMatched: boolean;
      /** @description Seconds from our opening of the incident (openedAt) to the venue's publication of the notice (postedAt); negative if the venue was first. Null if it is not shown beside an incident, if the feed does not say when it was published, or if our opening was late because the engine had not been running. */
      aheadUncorrelated: number | null;
    };
    /** @description Whether the venue's own feed can be read. */
    Feed: {
      /**
       * @description Whether the venue's feed can be read now; none: it has no machine-readable feed. It never affects the venue's state.
       * @enum {string}
       */
      state: "readable" | "unreadable" | "none";
      /** @description Error of the newest reading; null unless unreadable. */
      problem: string | null;
      /** @description Since when the feed has been in this state without a break; null if there is no feed. */
      since: string | null;
      /** @description Whether it could announce an outage: false if there is no feed, or if it only announces maintenance (Binance, Bitget, Gate). Its silence then means nothing. */
      tellsIncidents: boolean;
      /** @description When it was last read and understood; null: never. */
      readAt: string | null;
    };
    /** @description How our incidents compare with the venues' own notices: oursCompared = paired + oursNear + oursOnly, and theirsCompared = paired + theirsNear + theirsOnly. Only what the other side could have seen is counted, and only six hours later, since the other side may still follow until then. Maintenance is not compared. Some pairs arise by chance. */
    Detection: {
      /** @description Length of the window in UTC days, today included. 1 on an incident's page, which covers the six hours before and after it. */
      days: number;
      /** @description Days of the window on which, at least at some time, we measured the venue and had read its feed. For the fleet, days on which this holds for any venue; on an incident's page 1 if it is compared, else 0. */
      measuredDays: number;
      /** @description Whether the venue's feed was read for any part of the window. */
      observed: boolean;
      /** @description Venues included in the counts below; 1 or 0 on the row of one venue. The four counts of venues add up to all venues. */
      venuesCompared: number;
      /** @description Venues not included because on no day we both measured them and had read their feed; on an incident's page, because its six hours are not over or the feed was not read in them. */
      venuesUnseen: number;
      /** @description Venues not included because their feed only announces maintenance. */
      venuesOnlyMaintenance: number;
      /** @description Venues not included because they have no feed. */
      venuesWithoutFeed: number;
      /** @description All our incidents that started in the window, compared or not. */
      ours: number;
      /** @description Those for which the feed was read from six hours before to six hours after. Null if venuesCompared is 0. */
      oursCompared: number | null;
      /** @description All notices of kind incident that began in the window, compared or not. A notice shared by two venues counts for each. Null if venuesCompared is 0. */
      theirs: number | null;
      /** @description Notices that are compared: those paired with an incident in oursCompared, and unpaired ones that began in the window, more than six hours ago, and within a quarter of an hour of a minute that we measured. Null if venuesCompared is 0. */
      theirsCompared: number | null;
      /** @description Pairs of one incident and one notice that began within 6 hours of each other and are each other's nearest. Nothing tests that they are about the same fault. Null if venuesCompared is 0. */
      paired: number | null;
      /** @description Our incidents with a notice within 6 hours that is nearer to another of ours: one notice may cover several incidents of one outage. Null if venuesCompared is 0. */
      oursNear: number | null;
      /** @description Our incidents without any notice within 6 hours. Null if venuesCompared is 0. */
      oursOnly: number | null;
      /** @description Notices with an incident of ours within 6 hours that is nearer to another notice. Null if venuesCompared is 0. */
      theirsNear: number | null;
      /** @description Notices without any incident of ours within 6 hours. Null if venuesCompared is 0. */
      theirsOnly: number | null;
      /** @description Maintenance notices that began in the window; they are not compared. Null if observed is false. */
      maintenances: number | null;
      /** @description Notices about what we do not measure, recognised by words in the registry. Null if observed is false. */
      others: number | null;
      /** @description Always false: nothing tests that a notice describes the same fault. */
      subjectMatched: boolean;
      /** @description Pairs with a lead: for some, it is unknown when the notice was published. Null if venuesCompared is 0. */
      leads: number | null;
      /** @description Seconds from our opening of the incident (openedAt) to the venue's publication of the notice (postedAt); negative if the venue was first. The median over the pairs that have a lead; null if there are fewer than 5. On an incident's page, the lead of its own pair. */
      aheadUncorrelated: number | null;
    };
    /** @description Our incidents against the venues' own notices. An incident and a notice of the same venue can form a pair if they began within 6 hours of each other, in either order; nothing tests that they are about the same fault. */
    DetectionResponse: {
      /**
       * Format: date-time
       * @description The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the published past. Nothing in it is newer. Bodies with the same instant are consistent.
       */
      generatedAt: string;
      /** @description Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a closed incident, which no longer changes. */
      stale: boolean;
      /** @description Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and before the first decision. */
      ageSeconds: number | null;
      /** @description The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and this is null, as it is before the first decision. */
      decidedAt: string | null;
      /** @description Length of the window in UTC days, today included. */
      days: number;
      /** @description The counts of all venues. Its aheadUncorrelated is always null, since medians cannot be pooled. */
      fleet: components["schemas"]["Detection"];
      /** @description In the registry's order. */
      venues: {
        /** @description Registry id of the venue. */
        id: string;
        /** @description Name. */
        name: string;
        category: components["schemas"]["Category"];
        feed: components["schemas"]["Feed"];
        detection: components["schemas"]["Detection"];
      }[];
    };
    /**
     * @description Why a sample is bad. blocked: 403, 451 and similar, the venue refuses our region; limited: 429, 418, 402, or an answer in these words, the venue limits our requests, which is no outage; halted: the venue itself says that it does not trade; stall: a silent stream on a live socket; stale: data whose own time stands still or is far behind.
     * @enum {string}
     */
    Fault:
      | "dns"
      | "connect"
      | "tls"
      | "timeout"
      | "http"
      | "blocked"
      | "limited"
      | "halted"
      | "body"
      | "handshake"
      | "closed"
      | "stall"
      | "stale";
    /** @description An incident, the same object everywhere. */
    Incident: {
      /** @description Number of the incident; breaks ties between cursors. */
      id: number;
      /** @description Permanent name of an incident, given at opening. */
      slug: string;
      /** @description Registry id of the venue. */
      venue: string;
      /** @description rest:<name> or ws:<name>; ws:conn is the socket shared by the streams. */
      component: string;
      /**
       * @description Kind of the component.
       * @enum {string}
       */
      kind: "rest" | "ws";
      /** @description Its name for people. */
      label: string;
      /** @description Current severity; for a closed incident the worst that it reached, equal to peakSeverity. */
      severity: components["schemas"]["Severity"];
      /** @description The worst that it reached. */
      peakSeverity: components["schemas"]["Severity"];
      /**
       * @description A closed incident no longer changes.
       * @enum {string}
       */
      status: "open" | "closed";
      /**
       * Format: date-time
       * @description The first bad sample of the run that a quorum confirmed.
       */
      startedAt: string;
      /**
       * Format: date-time
       * @description The tick at which the quorum confirmed it.
       */
      openedAt: string;
      /** @description The tick at which it first became an outage, if it opened as degraded; null otherwise. */
      escalatedAt: string | null;
      /**
       * Format: date-time
       * @description The last bad sample. The recovery hold follows it, so closedAt is later.
       */
      lastBadAt: string;
      /** @description The tick that ended the recovery hold; null while open. */
      closedAt: string | null;
      /** @description When the trouble ended: lastBadAt, once the incident is closed; else null. */
      endedAt: string | null;
      /** @description Whether it was at least the third incident of its component within an hour. It then closes only after a longer hold, so a relapse extends it. */
      flapping: boolean;
      /** @description The fault of more than half of the failed and slow samples in the votes that opened it, or that made it an outage. With `limited` the venue limits our requests, and is not down. Null if no fault has so many, as of one that was only slow, or if no votes are on record. */
      fault: components["schemas"]["Fault"] | null;
      /** @description From startedAt to endedAt, without the recovery hold. Null while open. */
      durationSeconds: number | null;
      /** @description Number of regions that had to agree at the opening. */
      quorum: number;
      /** @description Number of regions that reported the component then; until release 0.10 the same as counted. */
      reporting: number;
      /** @description Number of these whose votes counted. */
      counted: number;
      /** @description The regions that voted degraded or outage at the opening, without those that followed later. Empty if no votes are on record. */
      regions: string[];
      /** @description The same venue's notice of kind incident that began nearest to it, at most 6 hours before or after; null if there is none, and officialObserved says whether we would know of one. Several incidents may have the same notice. Venues write and change notices later, so it may change after the incident closed. */
      official: components["schemas"]["OfficialIncident"] | null;
      /** @description Whether we know what the venue's feed said when the incident started: a reading without problems covers that time, or ended at most 15 minutes before it. Only then does a missing notice mean something. Null if the venue has no feed. */
      officialObserved: boolean | null;
    };
    /** @description One region's vote. */
    Vote: {
      /** @description Region id. */
      region: string;
      /** @description What this region saw. */
      vote: components["schemas"]["State"];
      /** @description Samples in the window. */
      samples: number;
      /** @description Those among them that failed. */
      bad: number;
      /** @description Good samples that were slow compared with the typical latency; 0 if there is none to compare with. */
      slow: number;
      /** @description Consecutive failed or slow samples up to the newest; for a stream, without those that its socket prevented. */
      badRun: number;
      /** @description Number of bad samples by fault. */
      faults: {
        [key: string]: number;
      };
      /** @description Good responses in the window, over which p50Ms is computed; 0 for a stream or a socket. */
      answers: number;
      /** @description Median latency of these; null if there were fewer than 3. */
      p50Ms: number | null;
      /** @description The typical latency that it was compared with; null if unknown. */
      typicalP50Ms: number | null;
      /**
       * Format: date-time
       * @description Slot of the newest sample.
       */
      newestAt: string;
      /** @description Age of the newest sample. */
      ageMs: number;
      /** @description Build of the probe. */
      probeVersion: string | null;
      /** @description Where the region's probes measured from at that decision, as they had reported until then; null where they disagreed or reported nothing. */
      vantage: {
        /** @description A short name given by the operator. */
        name: string | null;
        /** @description Its location. */
        place: string | null;
        /** @description The operator of its network. */
        network: string | null;
      };
      /** @description Failed samples that were unserved, because the venue had told us to wait or the socket was down. Absent in decisions of an earlier version. */
      unserved?: number;
      /** @description Partial failure over several consecutive windows, whether or not many samples in a row failed; null if there was none. Absent in decisions of an earlier version. */
      partial?: {
        /** @description Samples in all of these windows. */
        samples: number;
        /** @description Samples among them that failed. */
        bad: number;
      } | null;
      /** @description The venue's words in its latest refusal of the stream's subscription in the window; null if there was none. Absent in decisions of an earlier version. */
      refusal?: string | null;
      /** @description Fingerprint of the only machine that all of the region's probes ran on; null if there were several, or it is unknown. Regions with the same fingerprint are one vantage. Absent in decisions of an earlier version. */
      machine?: string | null;
    };
    /** @description The votes behind a decision. */
    Votes: {
      /**
       * Format: date-time
       * @description The tick that decided.
       */
      at: string;
      /** @description The state by quorum. */
      state: components["schemas"]["State"];
      /** @description Number of votes needed. */
      quorum: number;
      /** @description Number of regions that reported the component; in decisions of an earlier version, which lack `counted`, those with a vote. */
      reporting: number;
      /** @description Number of votes that confirm trouble: with a sufficient bad run, or failing in part. */
      confirming: number;
      /** @description Regions that had a vote. */
      votes: components["schemas"]["Vote"][];
      /** @description Regions without a vote. */
      notCounted: {
        /** @description Region id. */
        region: string;
        /** @description Why it was not counted, for people: no samples within the last hour; newest sample too old; impaired: most venues were cut off there at once, and in no other region whose own network worked; refused: the venue blocks this place, and no second place confirms that it blocks everybody; outlier: it has seen this bad for long, and no quorum with it. */
        reason: string;
        /** @description Slot of its newest sample, if any. */
        newestAt: string | null;
        /** @description Where the region's probes measured from at that decision, as they had reported until then; null where they disagreed or reported nothing. */
        vantage: {
          /** @description A short name given by the operator. */
          name: string | null;
          /** @description Its location. */
          place: string | null;
          /** @description The operator of its network. */
          network: string | null;
        };
        /** @description Fingerprint of the only machine that all of the region's probes ran on; null if there were several, or it is unknown. Regions with the same fingerprint are one vantage. Absent in decisions of an earlier version. */
        machine?: string | null;
      }[];
      /** @description Number of regions with a vote. Absent in decisions of an earlier version. */
      counted?: number;
      /** @description Number of regions published in the registry. Absent in decisions of an earlier version. */
      published?: number;
      /** @description Number of vantages of the regions with a vote: regions whose probes run on one machine are one. Absent in decisions of an earlier version. */
      vantages?: number;
      /** @description Limitations of these votes, for people. Absent in decisions of an earlier version. */
      notes?: string[];
    };
    /** @description History of incidents, newest first. */
    IncidentsResponse: {
      /**
       * Format: date-time
       * @description The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the published past. Nothing in it is newer. Bodies with the same instant are consistent.
       */
      generatedAt: string;
      /** @description Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a closed incident, which no longer changes. */
      stale: boolean;
      /** @description Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and before the first decision. */
      ageSeconds: number | null;
      /** @description The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and this is null, as it is before the first decision. */
      decidedAt: string | null;
      /** @description One page; a page shorter than the limit is the last. */
      incidents: components["schemas"]["Incident"][];
    };
    /** @description One event. */
    IncidentEvent: {
      /**
       * @description What happened. last-bad: a quorum saw the trouble for the last time; the recovery hold followed.
       * @enum {string}
       */
      kind: "started" | "opened" | "escalated" | "last-bad" | "closed";
      /**
       * Format: date-time
       * @description When.
       */
      at: string;
      /** @description Severity from then on. */
      severity: components["schemas"]["Severity"] | null;
    };
    /** @description Errors in the minutes that the incident touches. */
    ErrorBreakdown: {
      /**
       * Format: date-time
       * @description Its startedAt.
       */
      from: string;
      /**
       * Format: date-time
       * @description Its lastBadAt: the recovery hold is excluded.
       */
      to: string;
      /** @description Samples taken; null if no minute is kept any longer. */
      samples: number | null;
      /** @description Bad ones among them. */
      bad: number | null;
      /** @description Over all regions, most frequent first. */
      faults: {
        fault: components["schemas"]["Fault"];
        /** @description Bad samples. */
        count: number;
      }[];
      /** @description By region; a silent one has no samples. Empty if no minute is kept any longer. */
      regions: {
        /** @description Region id. */
        region: string;
        /** @description Samples taken. */
        samples: number;
        /** @description Bad ones among them. */
        bad: number;
        /** @description Number of bad samples by fault. */
        faults: {
          [key: string]: number;
        };
      }[];
    };
    /** @description Latency during the incident and before it. Null if there was no good response in either period. */
    IncidentLatency: {
      /**
       * @description component, or for a stream, which has no latency of its own, the venue's REST (venue-rest).
       * @enum {string}
       */
      source: "component" | "venue-rest";
      /** @description The same as text. */
      label: string;
      /** @description Width of the buckets: a minute, or an hour if the incident lasted longer than a day. */
      bucketMs: number;
      /** @description The day before it started. */
      before: {
        /**
         * Format: date-time
         * @description Start.
         */
        from: string;
        /**
         * Format: date-time
         * @description End.
         */
        to: string;
        /** @description Buckets, per endpoint and region, with a good response; the medians are computed over these. */
        buckets: number;
        /** @description Good responses in them. */
        answers: number;
        /** @description Median of their medians; null if there were fewer than 3. */
        p50Ms: number | null;
        /** @description Median of their 95th percentiles, over buckets with at least 10 responses; null if there is none. */
        p95Ms: number | null;
        /** @description The highest of their medians, over buckets with at least 3 responses. Use it for an incident of a minute or two: half of the samples behind p50Ms and p95Ms are then from before and after it. */
        slowestMs: number | null;
      };
      /** @description From startedAt to lastBadAt. */
      during: {
        /**
         * Format: date-time
         * @description Start.
         */
        from: string;
        /**
         * Format: date-time
         * @description End.
         */
        to: string;
        /** @description Buckets, per endpoint and region, with a good response; the medians are computed over these. */
        buckets: number;
        /** @description Good responses in them. */
        answers: number;
        /** @description Median of their medians; null if there were fewer than 3. */
        p50Ms: number | null;
        /** @description Median of their 95th percentiles, over buckets with at least 10 responses; null if there is none. */
        p95Ms: number | null;
        /** @description The highest of their medians, over buckets with at least 3 responses. Use it for an incident of a minute or two: half of the samples behind p50Ms and p95Ms are then from before and after it. */
        slowestMs: number | null;
      };
      /** @description By region, since a region that saw nothing dilutes the others. */
      regions: {
        /** @description Region id. */
        region: string;
        /** @description Good responses before. */
        beforeAnswers: number;
        /** @description Median before; null if not measured. */
        beforeP50Ms: number | null;
        /** @description Good responses during the incident. */
        answers: number;
        /** @description Median during. */
        p50Ms: number | null;
        /** @description 95th percentile during. */
        p95Ms: number | null;
        /** @description The highest median during. */
        slowestMs: number | null;
      }[];
    };
    /** @description One incident. */
    IncidentDetailResponse: {
      /**
       * Format: date-time
       * @description The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the published past. Nothing in it is newer. Bodies with the same instant are consistent.
       */
      generatedAt: string;
      /** @description Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a closed incident, which no longer changes. */
      stale: boolean;
      /** @description Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and before the first decision. */
      ageSeconds: number | null;
      /** @description The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and this is null, as it is before the first decision. */
      decidedAt: string | null;
      incident: components["schemas"]["Incident"];
      /** @description The venue. */
      venue: {
        /** @description Registry id of the venue. */
        id: string;
        /** @description Name. */
        name: string;
        /** @description Instrument probed, in the venue's own notation; null if the venue trades none. */
        symbol: string | null;
        /** @description Currency in which the symbol is priced. */
        quote: string | null;
      };
      /** @description A sentence about what this venue is. Only incidents of chains have one: that the chain stands, and no provider is at fault. */
      note: string | null;
      /** @description The component. */
      component: {
        /** @description rest:<name> or ws:<name>; ws:conn is the socket shared by the streams. */
        id: string;
        /**
         * @description Kind of the component.
         * @enum {string}
         */
        kind: "rest" | "ws";
        /** @description Its name for people. */
        label: string;
        /** @description The measured address if it is in the catalogue; of an operator's own only the origin. */
        target: string | null;
      };
      /** @description Timeline, from the incident's own columns. */
      events: components["schemas"]["IncidentEvent"][];
      /** @description The votes and their samples at the opening, the escalation and the closing. */
      evidence: {
        opening: components["schemas"]["Votes"];
        escalation?: components["schemas"]["Votes"];
        /** @description The votes, or the reason why there were none. */
        closing?:
          | components["schemas"]["Votes"]
          | {
              /**
               * Format: date-time
               * @description The tick that closed it.
               */
              at: string;
              /** @description Why. */
              reason: string;
            };
        /** @description Why it closed, for people. Absent while it is open, and if an earlier version closed it. */
        closedBecause?: string;
      };
      /** @description The stream's current stall threshold (the last one, if it is no longer watched), which may have been different at the decision. Null for endpoints and sockets, and after an upgrade until core has read the registry. */
      stallThreshold: {
        /** @description Silence beyond this is a stall. */
        afterMs: number;
        /**
         * @description The basis of the threshold: measured silences, or the stream's usual rate, which the venue documents (documented), which was counted by hand (probed), or which is only estimated (estimate).
         * @enum {string}
         */
        basis: "measured" | "documented" | "probed" | "estimate";
      } | null;
      errors: components["schemas"]["ErrorBreakdown"];
      /** @description Latency during the incident and before it. Null if there was no good response in either period. */
      latency: components["schemas"]["IncidentLatency"] | null;
      /** @description This incident alone compared with the venue's notices; /v1/targets/{venue} covers the venue's ninety days. */
      detection: components["schemas"]["Detection"];
      /** @description The venue's own status feed and notices. */
      official: {
        /** @description Kind of the venue's status feed. */
        source: string | null;
        /** @description The venue's status page. */
        page: string | null;
        /** @description Whether its feed was read for at least part of the 6 hours before and after it began. */
        observed: boolean;
        feed: components["schemas"]["Feed"];
        /** @description Its notices that began in the 6 hours before and after it began, including maintenance; at most 50, newest first. If there are more, notices about what we measure and with plausible times take precedence. */
        incidents: components["schemas"]["OfficialIncident"][];
      };
      /** @description The incidents of other venues that began within two minutes of it, open or closed, the 100 nearest to it: perhaps the trouble of a provider that they share. It may grow after the incident closed. */
      beganAtOnce: string[];
      /** @description Newest first, the nearest ten of each group: other incidents of the venue that started within six hours of it or were open when it started; others of its component within ninety days; and those of other venues that started within ten minutes of it. Venue and component identify the group. */
      related: components["schemas"]["Incident"][];
    };
    /** @description How reliable a venue was over the window. All values cover the same UTC days. */
    ReliabilityVenue: {
      /** @description Registry id of the venue. */
      id: string;
      /** @description Name. */
      name: string;
      category: components["schemas"]["Category"];
      /** @description Length of the window in UTC days, today included. */
      days: number;
      /** @description Days of the window with a measured minute. */
      measuredDays: number;
      /** @description Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do not count. */
      measuredMinutes: number;
      /** @description Minutes of the window that should have been measured: since the venue or component has been watched, until four minutes before the newest tick, since newer minutes are not published yet. */
      scheduledMinutes: number;
      /** @description Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was scheduled. */
      coveragePct: number | null;
      /** @description Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines it. Null if nothing was measured. */
      uptimePctLow: number | null;
      /** @description Its upper bound. */
      uptimePctHigh: number | null;
      /** @description Measured minutes that were down; null if nothing was measured. */
      downMinutes: number | null;
      /** @description Measured minutes that were degraded; null if nothing was measured. */
      degradedMinutes: number | null;
      /** @description Percentage of the measured minutes that were not down, truncated to three digits; null if less than half of the scheduled minutes were measured. */
      uptimePct: number | null;
      /** @description REST alone: down when at least half of the published endpoints are down. */
      rest: {
        /** @description Percentage of the measured minutes that were not down, truncated to three digits; null if less than half of the scheduled minutes were measured. */
        uptimePct: number | null;
        /** @description Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do not count. */
        measuredMinutes: number;
        /** @description Minutes of the window that should have been measured: since the venue or component has been watched, until four minutes before the newest tick, since newer minutes are not published yet. */
        scheduledMinutes: number;
        /** @description Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was scheduled. */
        coveragePct: number | null;
        /** @description Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines it. Null if nothing was measured. */
        uptimePctLow: number | null;
        /** @description Its upper bound. */
        uptimePctHigh: number | null;
        /** @description Measured minutes that were down; null if none was measured. */
        downMinutes: number | null;
      };
      /** @description The socket and its streams alone: down when at least half of them are down. */
      streams: {
        /** @description Percentage of the measured minutes that were not down, truncated to three digits; null if less than half of the scheduled minutes were measured. */
        uptimePct: number | null;
        /** @description Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do not count. */
        measuredMinutes: number;
        /** @description Minutes of the window that should have been measured: since the venue or component has been watched, until four minutes before the newest tick, since newer minutes are not published yet. */
        scheduledMinutes: number;
        /** @description Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was scheduled. */
        coveragePct: number | null;
        /** @description Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines it. Null if nothing was measured. */
        uptimePctLow: number | null;
        /** @description Its upper bound. */
        uptimePctHigh: number | null;
        /** @description Measured minutes that were down; null if none was measured. */
        downMinutes: number | null;
      };
      /** @description Each component by itself, in the registry's order: an outage of one component is not always an outage of the venue. */
      components: {
        /** @description rest:<name> or ws:<name>; ws:conn is the socket shared by the streams. */
        component: string;
        /** @description Its name for people. */
        label: string;
        /** @description Percentage of the measured minutes that were not down, truncated to three digits; null if less than half of the scheduled minutes were measured. */
        uptimePct: number | null;
        /** @description Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do not count. */
        measuredMinutes: number;
        /** @description Minutes of the window that should have been measured: since the venue or component has been watched, until four minutes before the newest tick, since newer minutes are not published yet. */
        scheduledMinutes: number;
        /** @description Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was scheduled. */
        coveragePct: number | null;
        /** @description Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines it. Null if nothing was measured. */
        uptimePctLow: number | null;
        /** @description Its upper bound. */
        uptimePctHigh: number | null;
        /** @description Measured minutes that were down; null if none was measured. */
        downMinutes: number | null;
        /** @description Measured minutes that were degraded; null if none was measured. */
        degradedMinutes: number | null;
      }[];
      /** @description Latency of the median hour: the median of the exact hourly medians of REST in the window, over all endpoints and regions; null if there were fewer than 3 hours. Another figure than the typical latency of the board (typicalMs), which is that of the median minute of seven days. */
      typicalP50Ms: number | null;
      /** @description The median of the 95th percentiles of the same hours: in the median hour, a twentieth of the responses take longer; null if typicalP50Ms is. */
      typicalP95Ms: number | null;
      /** @description Hours that both are computed from: those with at least 10 responses, per endpoint and region. */
      typicalHours: number;
      /** @description Incidents that started in the window. */
      incidents: number;
      /** @description Number of these that reached outage. */
      outages: number;
      /** @description Number of these that are still open. */
      openIncidents: number;
      /** @description Mean length of the closed ones, from startedAt to endedAt; null if there is none. */
      meanIncidentSeconds: number | null;
      /** @description The longest, from startedAt to endedAt, or to generatedAt if still open; null if there is none. */
      longestIncidentSeconds: number | null;
    };
    /** @description The venues compared. */
    ReliabilityResponse: {
      /**
       * Format: date-time
       * @description The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the published past. Nothing in it is newer. Bodies with the same instant are consistent.
       */
      generatedAt: string;
      /** @description Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a closed incident, which no longer changes. */
      stale: boolean;
      /** @description Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and before the first decision. */
      ageSeconds: number | null;
      /** @description The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and this is null, as it is before the first decision. */
      decidedAt: string | null;
      /** @description Length of the window in UTC days, today included. */
      days: number;
      /** @description Only the rows of this response, together. */
      fleet: {
        /** @description Rows. */
        venues: number;
        /** @description Over the measured minutes of all rows together; null if less than half of the scheduled ones were measured. */
        uptimePct: number | null;
        /** @description Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do not count. */
        measuredMinutes: number;
        /** @description Minutes of the window that should have been measured: since the venue or component has been watched, until four minutes before the newest tick, since newer minutes are not published yet. */
        scheduledMinutes: number;
        /** @description Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was scheduled. */
        coveragePct: number | null;
        /** @description Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines it. Null if nothing was measured. */
        uptimePctLow: number | null;
        /** @description Its upper bound. */
        uptimePctHigh: number | null;
        /** @description The median over the hours of all rows, not a mean of the rows' medians. */
        typicalP50Ms: number | null;
        /** @description The median of the 95th percentiles of those hours. */
        typicalP95Ms: number | null;
        /** @description Hours that both are computed from: those with at least 10 responses, per endpoint and region. */
        typicalHours: number;
        /** @description Incidents of all rows. */
        incidents: number;
      };
      /** @description The most available first; those without an uptime last. */
      venues: components["schemas"]["ReliabilityVenue"][];
      /** @description The rows by rank, first rank first; unmeasured rows have none. A row's rank is one more than the number of rows that were more available beyond the bounds: those whose uptimePctLow is above its uptimePctHigh. Rows that cannot be distinguished this way share a rank. */
      ranks: {
        /** @description The rank. */
        rank: number;
        /** @description The venues with this rank, in the registry's order. */
        venues: string[];
      }[];
      /** @description What was excluded from the window: whole minutes in which a region was impaired and no other region saw the same (until `generatedAt` for an impairment in progress), so that its own trouble counts against no venue. Newest first. */
      excluded: {
        /** @description Region id. */
        region: string;
        /**
         * Format: date-time
         * @description Start of the first minute.
         */
        from: string;
        /** @description End of the last minute; null while the impairment lasts. */
        to: string | null;
        /** @description Number of minutes so far. */
        minutes: number;
        /** @description `region impaired`: most venues were cut off at once in this region, and in no other region whose own network worked. `vantage impaired`: in all regions of one machine. */
        reason: string;
        /** @description The venues by which it was recognised. */
        venues: string[];
      }[];
    };
    /** @description One UTC day. Minutes are judged by a majority of the regions that measured them and were not impaired. */
    UptimeDay: {
      /**
       * Format: date
       * @description The day.
       */
      date: string;
      /** @description Percentage of the measured minutes that were not down, truncated to three digits; null if less than half of the scheduled minutes were measured. */
      uptimePct: number | null;
      /** @description Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do not count. */
      measuredMinutes: number;
      /** @description Minutes of the day that should have been measured: since the venue has been watched, as far as minutes are published. */
      scheduledMinutes: number;
      /** @description Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was scheduled. */
      coveragePct: number | null;
      /** @description The uptime if every unmeasured scheduled minute had been down, truncated to three digits; null if nothing was measured. */
      uptimePctLow: number | null;
      /** @description The uptime if no unmeasured scheduled minute had been down. */
      uptimePctHigh: number | null;
      /** @description Minutes in which at least half of the published REST components were down, or at least half of the published streams; null if nothing was measured. */
      downMinutes: number | null;
      /** @description Other minutes in which some component was degraded or down; null if nothing was measured. */
      degradedMinutes: number | null;
    };
    /** @description One component of a venue. */
    ComponentState: {
      /** @description rest:<name> or ws:<name>; ws:conn is the socket shared by the streams. */
      component: string;
      /** @description By quorum over all regions. */
      state: components["schemas"]["State"];
      /**
       * Format: date-time
       * @description The tick that confirmed this state. While the engine is silent or catching up: since when the state has read unknown.
       */
      since: string;
      /** @description What it mostly is while it is degraded or in outage: what most regions that see it so saw last, or else the fault of its open incident. With `limited` the venue limits our requests, and is not down. Null if it is neither, and if there is no such fault. */
      fault: components["schemas"]["Fault"] | null;
      /** @description Why it is unknown although it is measured. Null if it is not unknown, or for want of measurements or of a decision. */
      unknownBecause: components["schemas"]["UnknownBecause"] | null;
    };
    /** @description Open incidents of at least four venues that began within two minutes of the first of them: perhaps the trouble of a provider that they share. */
    CommonTrouble: {
      /**
       * Format: date-time
       * @description When the first of them began.
       */
      since: string;
      /** @description The venues. */
      venues: string[];
    };
    /** @description One category of the whole board. */
    CategoryCounts: {
      category: components["schemas"]["Category"];
      /** @description Venues in it. */
      venues: number;
      /** @description Number that are operational. */
      operational: number;
      /** @description Number that are degraded. */
      degraded: number;
      /** @description Number in outage. */
      outage: number;
      /** @description Number without evidence. */
      unknown: number;
      /** @description Open incidents in it. */
      activeIncidents: number;
    };
    /** @description One venue on the board. */
    VenueStatus: {
      /** @description Registry id of the venue. */
      id: string;
      /** @description Name. */
      name: string;
      category: components["schemas"]["Category"];
      /** @description Instrument probed, in the venue's own notation; null if the venue trades none. */
      symbol: string | null;
      /** @description Currency in which the symbol is priced. */
      quote: string | null;
      /** @description Id of the same exchange in ccxt; null if it is not in ccxt. It may differ from `id`, and ccxt may have another exchange of that id: its `coinbase` is Coinbase Advanced Trade, and ours is its `coinbaseexchange`. */
      ccxtId: string | null;
      state: components["schemas"]["State"];
      /**
       * Format: date-time
       * @description The tick that confirmed this state. While the engine is silent or catching up: since when the state has read unknown.
       */
      since: string;
      /** @description Over the measured minutes of ninety days; null if less than half of the scheduled ones were measured. */
      uptimePct90d: number | null;
      /** @description Days of the ninety with a measured minute. */
      measuredDays: number;
      /** @description Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do not count. */
      measuredMinutes: number;
      /** @description Minutes of the window that should have been measured: since the venue or component has been watched, until four minutes before the newest tick, since newer minutes are not published yet. */
      scheduledMinutes: number;
      /** @description Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was scheduled. */
      coveragePct: number | null;
      /** @description Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines it. Null if nothing was measured. */
      uptimePctLow: number | null;
      /** @description Its upper bound. */
      uptimePctHigh: number | null;
      /** @description Typical latency: the median of per-minute REST medians over seven days, all regions; null if there were fewer than 3. */
      typicalMs: number | null;
      /** @description Number of per-minute medians that it is computed from. */
      typicalMinutes: number;
      /** @description When it was computed, about every ten minutes, before generatedAt; null if it has not been yet. */
      typicalAsOf: string | null;
      /** @description Open incidents. */
      activeIncidents: number;
      /** @description The components, in the registry's order. */
      components: components["schemas"]["ComponentState"][];
      /** @description The ninety days, oldest first. */
      days: components["schemas"]["UptimeDay"][];
      /** @description The last 24 hours, oldest first. */
      sparkline: {
        /**
         * Format: date-time
         * @description Start of the hour.
         */
        at: string;
        /** @description Median over endpoints and regions of the hour's medians; null if fewer than 3 responses were good. The current hour is as of its last roll-up, at most about five minutes before generatedAt. */
        p50Ms: number | null;
        /** @description Good REST samples of the hour. */
        samples: number;
      }[];
    };
    /** @description The live board. */
    StatusResponse: {
      /**
       * Format: date-time
       * @description The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the published past. Nothing in it is newer. Bodies with the same instant are consistent.
       */
      generatedAt: string;
      /** @description Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a closed incident, which no longer changes. */
      stale: boolean;
      /** @description Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and before the first decision. */
      ageSeconds: number | null;
      /** @description The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and this is null, as it is before the first decision. */
      decidedAt: string | null;
      /** @description All rows of this response together. */
      summary: {
        /** @description Rows. */
        venues: number;
        /** @description Regions that report now: measured, not configured. */
        regions: number;
        /** @description Number of distinct vantages of these: regions whose probes all run on one machine are one. */
        vantages: number;
        /** @description What several regions on one machine mean for the results; null if no regions share one. */
        vantageNote: string | null;
        /** @description Default cadence in each region. */
        probeIntervalMs: number;
        /** @description outage if at least half of the venues are in outage, degraded if any is degraded or in outage, unknown while fewer than half of the venues are known. */
        state: components["schemas"]["State"];
        /** @description Over all measured minutes of all rows; null if less than half of the scheduled ones were measured. */
        uptimePct90d: number | null;
        /** @description Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do not count. */
        measuredMinutes: number;
        /** @description Minutes of the window that should have been measured: since the venue or component has been watched, until four minutes before the newest tick, since newer minutes are not published yet. */
        scheduledMinutes: number;
        /** @description Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was scheduled. */
        coveragePct: number | null;
        /** @description Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines it. Null if nothing was measured. */
        uptimePctLow: number | null;
        /** @description Its upper bound. */
        uptimePctHigh: number | null;
        /** @description Typical latency of all rows: the median of per-minute REST medians over seven days; null if there were fewer than 3. */
        medianLatencyMs: number | null;
        /** @description Number of per-minute medians that it is computed from. */
        medianLatencyMinutes: number;
        /** @description When it was computed, about every ten minutes, before generatedAt; null if it has not been yet. */
        medianLatencyAsOf: string | null;
        /** @description Open incidents of the rows. */
        activeIncidents: number;
        /** @description Open incidents of at least four venues that began within two minutes of the first of them: perhaps the trouble of a provider that they share. */
        commonTrouble: components["schemas"]["CommonTrouble"] | null;
        /** @description All categories, whatever the filter. */
        categories: components["schemas"]["CategoryCounts"][];
      };
      /** @description In the registry's order. */
      venues: components["schemas"]["VenueStatus"][];
      /** @description Open incidents, and those closed within the last day; newest first. */
      incidents: components["schemas"]["Incident"][];
    };
    /** @description How soon alerts arrive: from an incident's first bad sample, its `startedAt`, until a channel accepted the opening alert, over all channels. Closings, escalations, retracted incidents, failures, deliveries that an operator requested, and events that waited for more than an hour before their delivery began do not count. */
    NotifyResponse: {
      /**
       * Format: date-time
       * @description The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the published past. Nothing in it is newer. Bodies with the same instant are consistent.
       */
      generatedAt: string;
      /** @description Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a closed incident, which no longer changes. */
      stale: boolean;
      /** @description Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and before the first decision. */
      ageSeconds: number | null;
      /** @description The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and this is null, as it is before the first decision. */
      decidedAt: string | null;
      /** @description Length of the window: 30. */
      days: number;
      /** @description Delivered opening alerts, over which the percentiles are computed. */
      deliveries: number;
      /** @description Median; null if there is no delivery. */
      p50Ms: number | null;
      /** @description 95th percentile; null if there is no delivery. */
      p95Ms: number | null;
    };
    /** @description The place from which a region measures. */
    Vantage: {
      /** @description A short name given by the operator; like the next two, null if not set. */
      name: string | null;
      /** @description Its location. */
      place: string | null;
      /** @description The operator of its network. */
      network: string | null;
      /** @description Fingerprint of the machine; probes with the same fingerprint share it. Null if unknown. */
      machine: string | null;
    };
    /** @description One component. */
    NeverSeenGood: {
      /** @description Registry id of the venue. */
      venue: string;
      /** @description rest:<name> or ws:<name>; ws:conn is the socket shared by the streams. */
      component: string;
      /** @description The newest fault that this region saw. */
      fault: components["schemas"]["Fault"];
      /**
       * Format: date-time
       * @description Since when it is unknown for this reason.
       */
      since: string;
      /** @description What to do. */
      advice: string;
    };
    /** @description One region. */
    RegionSummary: {
      /** @description Region id. */
      id: string;
      /** @description Name. */
      name: string;
      /** @description Whether it shipped a sample within the last minute. */
      reporting: boolean;
      /** @description Slot of its newest sample. */
      newestAt: string | null;
      /** @description Samples shipped in the last hour. */
      samplesLastHour: number;
      /** @description Share of them that were good. */
      goodPctLastHour: number | null;
      /** @description Build of the probe. */
      probeVersion: string | null;
      /** @description When its probe started; with several probes, the earliest start. */
      probeStartedAt: string | null;
      /** @description Slots unmeasured since then, for reasons of our own. A slot that a venue prevented is a bad sample instead. */
      unmeasuredSlots: number | null;
      /** @description The region's live probes, or the one that was live last; they divide its venues among themselves. */
      probes: {
        /** @description Identifies a probe; kept across restarts in the same data directory. */
        id: string;
        /** @description Its build. */
        version: string;
        /**
         * Format: date-time
         * @description When it started.
         */
        startedAt: string;
        /**
         * Format: date-time
         * @description Its newest heartbeat.
         */
        seenAt: string;
        /** @description Venues that it measures. */
        venues: number;
        /** @description Slots unmeasured since it started. */
        unmeasuredSlots: number;
        /** @description The same by reason; reasons that did not occur are omitted. */
        unmeasuredByReason: {
          [key: string]: number;
        };
        /** @description Its clock minus that of most venues, by the Date headers of their responses; null while fewer than three agree. Ages of events are corrected by it. */
        clockErrorMs: number | null;
        /** @description Maximum error of clockErrorMs. */
        clockErrorWithinMs: number | null;
        vantage: components["schemas"]["Vantage"];
      }[];
      /** @description Current probe trouble: what keeps its probes from measuring, or from measuring correctly. It never counts against a venue. */
      troubles: {
        /** @description Identifies a probe; kept across restarts in the same data directory. */
        probe: string;
        /**
         * @description No route, no name resolution, no free socket, a clock that is wrong by more than half a second, a process or machine that stalls, or a spool that cannot be written.
         * @enum {string}
         */
        kind: "network" | "resolver" | "sockets" | "clock" | "starved" | "spool";
        /**
         * Format: date-time
         * @description When it began.
         */
        since: string;
        /** @description The same as text. */
        detail: string;
      }[];
      /** @description Where its probes measure from; null where they disagree. The machine is the one that all live probes run on, as of generatedAt. */
      vantage: components["schemas"]["Vantage"];
      /** @description Other regions whose probes all run on the same machine: together they are one vantage, and a fault of its network affects all of them. */
      sameMachineAs: string[];
      /** @description Components that no region has seen good by their present entry in the registry, and that this region sees fail: the entry, this network or this place may be the cause. They are unknown, open no incident and send no alert. The first 200, in the registry's order; none while the engine is silent. */
      neverSeenGood: components["schemas"]["NeverSeenGood"][];
      /** @description Number of such components, of which at most 200 are listed. */
      neverSeenGoodTotal: number;
      /** @description The region's current impairment: it keeps measuring, but has no vote. Null if there is none, and while the engine is silent. */
      impaired: {
        /**
         * Format: date-time
         * @description When its first sign appeared.
         */
        since: string;
        /**
         * Format: date-time
         * @description The tick that recognised it.
         */
        recognisedAt: string;
        /** @description The venues that turned bad in this region only. */
        venues: string[];
        /** @description Number of venues that the region measured then. */
        measured: number;
        /** @description The same as text. */
        reason: string;
      } | null;
      /** @description Its impairments of the last seven days, including a current one; newest first. */
      impairments: {
        /**
         * Format: date-time
         * @description When its first sign appeared.
         */
        startedAt: string;
        /**
         * Format: date-time
         * @description The tick that recognised it.
         */
        recognisedAt: string;
        /** @description The tick that ended it; null while it lasts. */
        endedAt: string | null;
        /** @description The venues that turned bad in this region only. */
        venues: string[];
        /** @description Number of venues that the region measured then. */
        measured: number;
      }[];
    };
    /** @description The fleet of probes. */
    RegionsResponse: {
      /**
       * Format: date-time
       * @description The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the published past. Nothing in it is newer. Bodies with the same instant are consistent.
       */
      generatedAt: string;
      /** @description Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a closed incident, which no longer changes. */
      stale: boolean;
      /** @description Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and before the first decision. */
      ageSeconds: number | null;
      /** @description The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and this is null, as it is before the first decision. */
      decidedAt: string | null;
      /** @description Every region of the registry; a silent one is listed, never omitted. */
      regions: components["schemas"]["RegionSummary"][];
      /** @description The number of regions that must agree: a simple majority of those that report now and are not impaired. */
      quorum: number;
      /** @description Number of distinct vantages of the regions that report now: regions on one machine are one vantage. */
      vantages: number;
    };
    /** @description One rule. */
    PublishedRule: {
      /** @description Name; the rulebook explains it. */
      name: string;
      /** @description Value. */
      value: number;
      /**
       * @description Its unit. share is a fraction of 1; times is a multiple of the usual value; cadences are those of the judged component.
       * @enum {string}
       */
      unit:
        | "ms"
        | "hours"
        | "days"
        | "samples"
        | "cadences"
        | "windows"
        | "regions"
        | "vantages"
        | "incidents"
        | "venues"
        | "share"
        | "times";
      /** @description The reason for the value. */
      reason: string;
      /**
       * @description Where it applies: the engine's decisions, a probe's judgement of a slot, or published figures. Only the engine's can be changed in a replay.
       * @enum {string}
       */
      appliedBy: "engine" | "probe" | "figures";
    };
    /** @description Stall threshold of one stream. */
    StallThreshold: {
      /** @description Registry id of the venue. */
      venue: string;
      /** @description ws:<name>. */
      component: string;
      /** @description Silence beyond this is a stall. */
      afterMs: number;
      /** @description Usual data frames a minute. */
      typicalPerMinute: number;
      /**
       * @description The source of typicalPerMinute.
       * @enum {string}
       */
      rateBasis: "documented" | "probed" | "estimate";
      /**
       * @description The basis of the threshold: measured silences, or the stream's usual rate, which the venue documents (documented), which was counted by hand (probed), or which is only estimated (estimate).
       * @enum {string}
       */
      basis: "measured" | "documented" | "probed" | "estimate";
      /** @description The REST endpoint that shows whether a silent stream should have sent something; null if there is none. */
      counterpart: string | null;
      /** @description The measured quiet periods that it is based on; null while it is computed from the usual rate. */
      distribution: {
        /** @description Periods measured. */
        periods: number;
        /**
         * Format: date
         * @description First day.
         */
        from: string;
        /**
         * Format: date
         * @description Last day.
         */
        to: string;
        /** @description Median. */
        p50Ms: number;
        /** @description 99th percentile. */
        p99Ms: number;
        /** @description 99.9th percentile. */
        p999Ms: number;
      } | null;
    };
    /** @description The rules of this build. */
    ThresholdsResponse: {
      /**
       * Format: date-time
       * @description The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the published past. Nothing in it is newer. Bodies with the same instant are consistent.
       */
      generatedAt: string;
      /** @description Build of the engine. */
      version: string;
      /** @description Every constant of the engine, then those of probes and of published figures. */
      rules: components["schemas"]["PublishedRule"][];
      /** @description One per stream. */
      stalls: components["schemas"]["StallThreshold"][];
    };
    /** @description An error in the format of RFC 9457. */
    Problem: {
      /** @description about:blank: no more specific than the status. */
      type: string;
      /** @description The status in words. */
      title: string;
      /** @description The HTTP status. */
      status: number;
      /** @description What was wrong, and what to do. */
      detail: string;
      /** @description With 400: every invalid parameter. Omitted if the path or query itself is invalid. */
      errors?: {
        /** @description Its name. */
        parameter: string;
        /** @description What was expected, and what came. */
        message: string;
      }[];
      /** @description With 404 of a retracted incident: its slug. retractedAt and reason come with it. */
      slug?: string;
      /**
       * Format: date-time
       * @description When it was retracted.
       */
      retractedAt?: string;
      /** @description Why, in the words of the engine or the operator; null if the operator gave the reason before reasons were public. */
      reason?: string | null;
    };
    /** @description Why a state is unknown, by quorum or to one region. */
    UnseenBecause: {
      /**
       * @description never, ended, blocked: as in UnknownBecause. Of one region alone: impaired: its own network is in trouble. silent: no measurement has come from it of late. unmeasured: none is known.
       * @enum {string}
       */
      reason: "never" | "ended" | "blocked" | "impaired" | "silent" | "unmeasured";
      /** @description The same in words. */
      detail: string;
    };
    /** @description A component that this region sees otherwise than all regions together. */
    RegionDissent: {
      /** @description rest:<name> or ws:<name>; ws:conn is the socket shared by the streams. */
      component: string;
      /** @description What this region alone sees; no decision depends on it. */
      state: components["schemas"]["State"];
      /**
       * Format: date-time
       * @description The tick since which this region sees it so.
       */
      since: string;
      /** @description Fault of the newest measurement there; null if it was good, or slow. */
      fault: components["schemas"]["Fault"] | null;
    };
    /** @description The venue as one region alone sees it. While the region is impaired, it is unknown. */
    RegionView: {
      /** @description Region id. */
      region: string;
      /** @description Name. */
      name: string;
      /** @description What this region alone sees; no decision depends on it. */
      state: components["schemas"]["State"];
      /**
       * Format: date-time
       * @description The tick since which this region sees it so.
       */
      since: string;
      /** @description Why it is unknown. Null if it is not, or for want of measurements or of a decision: `stale` says whether the engine decides. */
      unknownBecause: components["schemas"]["UnseenBecause"] | null;
      /** @description The components that it sees otherwise than all regions together. */
      dissent: components["schemas"]["RegionDissent"][];
    };
    /** @description What the registry says of its own entry for the venue; null where it says nothing. */
    VenueEntry: {
      /** @description Addresses of the venue's documentation and changelog. */
      sources: string[] | null;
      /** @description The day on which the entry was last compared with its sources. */
      checkedAt: string | null;
      /** @description What ends, and when. Its components are unknown from then on, and never down. */
      until: {
        /**
         * Format: date
         * @description The first day without it, in UTC.
         */
        date: string;
        /** @description What ends. */
        what: string;
        /** @description Where the venue says so. */
        source: string;
        /** @description The components that end; null: all. */
        components: string[] | null;
      } | null;
      /** @description How many requests the venue accepts. All requests of the probes on one address stay below half of each limit by address; the cadences of endpoints and streams are the resolved ones. */
      limits:
        | {
            /** @description Of these addresses. */
            origin: string;
            /** @description Number of requests. */
            requests: number;
            /** @description In this time. */
            periodMs: number;
            /**
             * @description What is counted: requests from one address, or those of one account, of which a probe has none.
             * @enum {string}
             */
            per: "address" | "account";
            /** @description Names of the endpoints that it is about; null: all of the origin. */
            endpoints: string[] | null;
            /** @description Where the venue says so. */
            source: string;
          }[]
        | null;
      /** @description Countries that the venue does not serve. */
      blockedIn: {
        /** @description ISO 3166-1 alpha-2 codes. */
        countries: string[];
        /** @description Where the venue says so. */
        source: string;
      } | null;
      /** @description For so long an edge in front of the venue may repeat an answer: a shorter outage behind it is invisible. */
      edgeCacheMs: number | null;
    };
    /** @description One bucket of the chart, computed exactly from raw samples. */
    LatencyPoint: {
      /**
       * Format: date-time
       * @description Start of the bucket.
       */
      at: string;
      /** @description Median of the good REST samples; null if there were fewer than 3. */
      p50Ms: number | null;
      /** @description Their 95th percentile; null if there were fewer than 10. */
      p95Ms: number | null;
      /** @description Number of good REST samples. */
      samples: number;
    };
    /** @description One REST endpoint, seen from the selected region. */
    EndpointStatus: {
      /** @description rest:<name> or ws:<name>; ws:conn is the socket shared by the streams. */
      component: string;
      /** @description The part after the colon. */
      name: string;
      /** @description Its name for people. */
      label: string;
      /** @description The address that is measured; null for a chain, which is read at several. */
      target: string | null;
      /** @description Its cadence in each region. */
      cadenceMs: number;
      /** @description By quorum over all regions. */
      state: components["schemas"]["State"];
      /**
       * Format: date-time
       * @description The tick that confirmed this state. While the engine is silent or catching up: since when the state has read unknown.
       */
      since: string;
      /** @description What it mostly is while it is degraded or in outage: what most regions that see it so saw last, or else the fault of its open incident. With `limited` the venue limits our requests, and is not down. Null if it is neither, and if there is no such fault. */
      fault: components["schemas"]["Fault"] | null;
      /** @description Why it is unknown although it is measured. Null if it is not unknown, or for want of measurements or of a decision. */
      unknownBecause: components["schemas"]["UnknownBecause"] | null;
      /** @description As seen by the selected region. */
      regionState: components["schemas"]["State"];
      /** @description Samples of the selected region in the range. */
      samples: number;
      /** @description Share of them that were good. */
      goodPct: number | null;
      /** @description Good samples in the range, over which the percentiles are computed. */
      answers: number;
      /** @description Their exact median; null if there were fewer than 3. */
      p50Ms: number | null;
      /** @description Exact 95th percentile; null if there were fewer than 10. */
      p95Ms: number | null;
      /** @description Slot of the newest sample. */
      newestAt: string | null;
      /** @description Why a sample is bad. blocked: 403, 451 and similar, the venue refuses our region; limited: 429, 418, 402, or an answer in these words, the venue limits our requests, which is no outage; halted: the venue itself says that it does not trade; stall: a silent stream on a live socket; stale: data whose own time stands still or is far behind. */
      newestFault: components["schemas"]["Fault"] | null;
      /** @description Expiry of the newest certificate that the server presented within the last day; null if none was seen. */
      certificateExpiresAt: string | null;
      /** @description Distance to the freshest head that our fleet saw from this region, not to the true head. Null if the responses in the range named no head. */
      lag: {
        /** @description Blocks behind the freshest head. Null if there is no recent head, or if providers are more than 100,000 blocks apart and none confirms this one. */
        blocks: number | null;
        /** @description The latest head named by this endpoint, if not older than three of its cadences or a minute, whichever is longer; else null. */
        head: number | null;
        /** @description The freshest head of the same chain known from this region when this endpoint was measured, from responses of the preceding minute; null if providers are more than 100,000 blocks apart and none confirms another. */
        freshestHead: number | null;
        /** @description Slot in which this head was named. */
        at: string | null;
        /** @description How often this endpoint named a head below its previous one in the last 24 hours, whatever the range. */
        backwards: number;
      } | null;
    };
    /** @description One stream, or ws:conn, seen from the selected region. */
    StreamStatus: {
      /** @description rest:<name> or ws:<name>; ws:conn is the socket shared by the streams. */
      component: string;
      /** @description The part after the colon. */
      name: string;
      /** @description Its name for people. */
      label: string;
      /** @description The measured address if it is in the catalogue; of an operator's own only the origin. */
      target: string;
      /** @description Its cadence in each region. */
      cadenceMs: number;
      /** @description By quorum over all regions. */
      state: components["schemas"]["State"];
      /**
       * Format: date-time
       * @description The tick that confirmed this state. While the engine is silent or catching up: since when the state has read unknown.
       */
      since: string;
      /** @description What it mostly is while it is degraded or in outage: what most regions that see it so saw last, or else the fault of its open incident. With `limited` the venue limits our requests, and is not down. Null if it is neither, and if there is no such fault. */
      fault: components["schemas"]["Fault"] | null;
      /** @description Why it is unknown although it is measured. Null if it is not unknown, or for want of measurements or of a decision. */
      unknownBecause: components["schemas"]["UnknownBecause"] | null;
      /** @description As seen by the selected region. */
      regionState: components["schemas"]["State"];
      /** @description Samples of the selected region in the range. */
      samples: number;
      /** @description Share of them that were good. */
      goodPct: number | null;
      /** @description Data frames per minute, mean over the measured slots; null on ws:conn. */
      messagesPerMinute: number | null;
      /** @description The longest silence in the range. */
      longestQuietMs: number | null;
      /** @description Age of the newest event by the venue's own clock, corrected by the known error of our clock; negative if the venue's clock is ahead. */
      eventAgeMs: number | null;
      /** @description Number of gaps in the venue's own frame numbers in the range; null if it gives none. */
      sequenceGaps: number | null;
      /** @description Silence beyond this is a stall. */
      stallAfterMs: number | null;
      /** @description Slot of the newest sample. */
      newestAt: string | null;
      /** @description Why a sample is bad. blocked: 403, 451 and similar, the venue refuses our region; limited: 429, 418, 402, or an answer in these words, the venue limits our requests, which is no outage; halted: the venue itself says that it does not trade; stall: a silent stream on a live socket; stale: data whose own time stands still or is far behind. */
      newestFault: components["schemas"]["Fault"] | null;
    };
    /** @description The venue as one region sees it, over exactly the range that ends at generatedAt. */
    RegionComparison: {
      /** @description Region id. */
      region: string;
      /** @description Name. */
      name: string;
      /** @description Whether it reports this venue now. */
      reporting: boolean;
      /** @description Whether the region is impaired and therefore has no vote; see /v1/regions. */
      impaired: boolean;
      /** @description What this region alone sees, also while it is impaired, when `view` is unknown; no decision rests on it alone. */
      state: components["schemas"]["State"];
      /** @description Samples of all components in the range. */
      samples: number;
      /** @description Share of them that were good. */
      goodPct: number | null;
      /** @description Good REST samples in the range, over which the percentiles are computed. */
      answers: number;
      /** @description Exact median REST latency of all endpoints together; null if there were fewer than 3 responses. */
      p50Ms: number | null;
      /** @description Exact 95th percentile; null if there were fewer than 10. */
      p95Ms: number | null;
      /** @description Slot of the newest sample. */
      newestAt: string | null;
      view: components["schemas"]["RegionView"];
    };
    /** @description Incidents of one component and severity, by hour of the day and day of the week. All in UTC. */
    IncidentPattern: {
      /** @description rest:<name> or ws:<name>; ws:conn is the socket shared by the streams. */
      component: string;
      /** @description The worst severity that they reached. */
      severity: components["schemas"]["Severity"];
      /** @description Number of incidents. */
      count: number;
      /** @description Days on which at least one of them started. */
      days: number;
      /** @description Sum of their lengths, each from startedAt to endedAt, or to generatedAt while open. */
      totalSeconds: number;
      /**
       * Format: date-time
       * @description Start of the newest.
       */
      newestAt: string;
      /** @description Number started in each hour of the day. */
      byHour: number[];
      /** @description Number started on each day of the week, Monday first. */
      byWeekday: number[];
      /** @description Times at which it recurs, counted in days so that a bad afternoon counts once: an hour of a weekday, or an hour of any day, with at least three days and half of all days; or a weekday with at least four days and three quarters of all. Chance alone produces this in at most one of thirty patterns. */
      recurring: {
        /**
         * @description How often it recurs.
         * @enum {string}
         */
        every: "week" | "day";
        /** @description Null for any day. */
        weekday: ("monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday") | null;
        /** @description Hour of the day; null for any hour. */
        hour: number | null;
        /** @description Incidents that started at that time. */
        incidents: number;
        /** @description Days on which they started. */
        days: number;
        /** @description Days with any incident of this pattern. */
        ofDays: number;
      }[];
      /** @description All of them, newest first. */
      incidents: {
        /** @description Permanent name of an incident, given at opening. */
        slug: string;
        /** @description Its path: /v1/incidents/{slug}. */
        path: string;
        /**
         * Format: date-time
         * @description When it started.
         */
        startedAt: string;
      }[];
    };
    /** @description One venue in detail. */
    ExchangeResponse: {
      /**
       * Format: date-time
       * @description The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the published past. Nothing in it is newer. Bodies with the same instant are consistent.
       */
      generatedAt: string;
      /** @description Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a closed incident, which no longer changes. */
      stale: boolean;
      /** @description Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and before the first decision. */
      ageSeconds: number | null;
      /** @description The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and this is null, as it is before the first decision. */
      decidedAt: string | null;
      /** @description The venue. */
      exchange: {
        /** @description Registry id of the venue. */
        id: string;
        /** @description Name. */
        name: string;
        category: components["schemas"]["Category"];
        /** @description Instrument probed, in the venue's own notation; null if the venue trades none. */
        symbol: string | null;
        /** @description Currency in which the symbol is priced. */
        quote: string | null;
      };
      entry: components["schemas"]["VenueEntry"];
      /** @description The chain that the venue reads, or is: a venue of its own. If it stands at all providers, that is its incident, and none of them is down for it. Null if the venue reads no chain, or one that fewer than two providers of category rpc read. */
      chain: {
        /** @description Its id as a venue. */
        venue: string;
        /** @description Name. */
        name: string;
        state: components["schemas"]["State"];
        /**
         * Format: date-time
         * @description The tick that confirmed this state. While the engine is silent or catching up: since when the state has read unknown.
         */
        since: string;
        /** @description Ids of the providers at which we read it. */
        providers: string[];
        /** @description When its open incident began: since then it has stood still, or gone back to older blocks, at all providers. */
        standsSince: string | null;
        /** @description Permanent name of an incident, given at opening. */
        incident: string | null;
      } | null;
      state: components["schemas"]["State"];
      /**
       * Format: date-time
       * @description The tick that confirmed this state. While the engine is silent or catching up: since when the state has read unknown.
       */
      since: string;
      /** @description Over the measured minutes of ninety days; null if less than half of the scheduled ones were measured. */
      uptimePct90d: number | null;
      /** @description Minutes measured by at least two regions, or by the only published one. Minutes of impaired regions do not count. */
      measuredMinutes: number;
      /** @description Minutes of the window that should have been measured: since the venue or component has been watched, until four minutes before the newest tick, since newer minutes are not published yet. */
      scheduledMinutes: number;
      /** @description Measured minutes as a percentage of the scheduled ones, truncated to three digits; null if none was scheduled. */
      coveragePct: number | null;
      /** @description Lower bound of the uptime over all scheduled minutes, truncated to three digits; the methodology defines it. Null if nothing was measured. */
      uptimePctLow: number | null;
      /** @description Its upper bound. */
      uptimePctHigh: number | null;
      /** @description As on the board. */
      typicalMs: number | null;
      /** @description Number of per-minute medians that it is computed from. */
      typicalMinutes: number;
      /** @description When it was computed, about every ten minutes, before generatedAt; null if it has not been yet. */
      typicalAsOf: string | null;
      /** @description The ninety days, oldest first. */
      days: components["schemas"]["UptimeDay"][];
      /** @description REST latency seen from the selected region. */
      latency: {
        /**
         * @description The window.
         * @enum {string}
         */
        range: "24h" | "7d";
        /** @description Width of a bucket. */
        bucketMs: number;
        /** @description Every bucket of the range, oldest first. */
        points: components["schemas"]["LatencyPoint"][];
      };
      /** @description REST, in the registry's order. */
      endpoints: components["schemas"]["EndpointStatus"][];
      /** @description The socket and its streams. */
      streams: components["schemas"]["StreamStatus"][];
      /** @description Vantage points. */
      regions: {
        /** @description The region that the request resolved to. */
        selected: string;
        /** @description Every region. */
        compare: components["schemas"]["RegionComparison"][];
      };
      /** @description The 50 most recent, however old; newest first. */
      incidents: components["schemas"]["Incident"][];
      /** @description All incidents that started within ninety days by component and severity, each in exactly one pattern; most frequent first. */
      incidentPatterns: components["schemas"]["IncidentPattern"][];
      /** @description The venue's own status feed and notices. */
      official: {
        /** @description Kind of the venue's status feed. */
        source: string | null;
        /** @description The venue's status page. */
        page: string | null;
        /** @description Whether its feed was read for at least part of the window of 90 days and after it. */
        observed: boolean;
        feed: components["schemas"]["Feed"];
        /** @description Its notices that began in the window of 90 days and after it, including maintenance; at most 50, newest first. If there are more, notices about what we measure and with plausible times take precedence. */
        incidents: components["schemas"]["OfficialIncident"][];
      };
      detection: components["schemas"]["Detection"];
      /** @description The row of /v1/reliability for this venue, over ninety days. */
      summary: components["schemas"]["ReliabilityVenue"];
      /** @description What was excluded from the window: whole minutes in which a region was impaired and no other region saw the same (until `generatedAt` for an impairment in progress), so that its own trouble counts against no venue. Newest first. */
      excluded: {
        /** @description Region id. */
        region: string;
        /**
         * Format: date-time
         * @description Start of the first minute.
         */
        from: string;
        /** @description End of the last minute; null while the impairment lasts. */
        to: string | null;
        /** @description Number of minutes so far. */
        minutes: number;
        /** @description `region impaired`: most venues were cut off at once in this region, and in no other region whose own network worked. `vantage impaired`: in all regions of one machine. */
        reason: string;
        /** @description The venues by which it was recognised. */
        venues: string[];
      }[];
    };
    /** @description One component, by quorum over all regions, or as `region` sees it. */
    ComponentVerdict: {
      /** @description rest:<name> or ws:<name>; ws:conn is the socket shared by the streams. */
      component: string;
      state: components["schemas"]["State"];
      /**
       * Format: date-time
       * @description The tick that confirmed this state. While the engine is silent or catching up: since when the state has read unknown.
       */
      since: string;
      /** @description What it mostly is while it is degraded or in outage: what most regions that see it so saw last, or else the fault of its open incident. With `limited` the venue limits our requests, and is not down. Null if it is neither, and if there is no such fault. */
      fault: components["schemas"]["Fault"] | null;
      /** @description Why it is unknown. Null if it is not, or for want of measurements or of a decision: `stale` says whether the engine decides. */
      unknownBecause: components["schemas"]["UnseenBecause"] | null;
      /** @description Number of the counted regions that see this state, or for `degraded` an outage. */
      agreeing: number;
      /** @description Number of regions whose votes count now: of those that report it, without impaired and refused ones and outliers. */
      counted: number;
      /** @description Number of regions that report it now, whether or not their votes count. */
      reporting: number;
      /** @description Slug of its open incident; null if it has none. */
      incident: string | null;
    };
    /** @description The state of one venue, by quorum over all regions, or as `region` sees it. */
    VenueStateResponse: {
      /**
       * Format: date-time
       * @description The instant that this body shows: the engine's last tick, plus a millisecond for each later change of the published past. Nothing in it is newer. Bodies with the same instant are consistent.
       */
      generatedAt: string;
      /** @description Whether the engine has decided nothing for half a minute: then this may no longer be true. Never set in a closed incident, which no longer changes. */
      stale: boolean;
      /** @description Age of the newest decision when this was sent, in steps of ten seconds; null while `stale` is false, and before the first decision. */
      ageSeconds: number | null;
      /** @description The instant of that decision, and so of every state shown. While `stale` is false it is generatedAt, and this is null, as it is before the first decision. */
      decidedAt: string | null;
      /** @description Registry id of the venue. */
      id: string;
      /** @description Name. */
      name: string;
      category: components["schemas"]["Category"];
      state: components["schemas"]["State"];
      /**
       * Format: date-time
       * @description The tick that confirmed this state. While the engine is silent or catching up: since when the state has read unknown.
       */
      since: string;
      /** @description Open incidents. */
      activeIncidents: number;
      /** @description The components, in the registry's order. */
      components: components["schemas"]["ComponentVerdict"][];
      /** @description The venue by quorum over all regions; null where `state` is that itself, because no region is given. */
      byQuorum: {
        state: components["schemas"]["State"];
        /**
         * Format: date-time
         * @description The tick that confirmed this state. While the engine is silent or catching up: since when the state has read unknown.
         */
        since: string;
      } | null;
      /** @description The region whose view `state`, `since` and the components' are; null: they are by quorum. */
      region: components["schemas"]["RegionView"] | null;
      /** @description The regions that see the venue or one of its components otherwise than all together, or cannot tell. Empty if all agree. */
      regions: components["schemas"]["RegionView"][];
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  getStatus: {
    parameters: {
      query?: {
        /** @description Only venues of this category. An allowed category without venues gives empty lists. */
        category?: "exchange" | "rpc" | "market-data" | "oracle" | "stablecoin" | "bridge" | "ramp";
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["StatusResponse"];
        };
      };
    };
  };
  getTarget: {
    parameters: {
      query?: {
        /** @description Window of the latency chart and the tables: 24h in one-minute buckets, 7d in one-hour buckets. */
        range?: "24h" | "7d";
        /** @description Vantage point of the latency chart, the endpoints and the streams. States and days combine all regions. */
        region?: string;
        /** @description The same as JSON or as a table. Tables have addresses of their own, too, for generated clients: here they read only JSON. */
        format?: "json" | "csv" | "xlsx";
        /** @description The decimal mark. With comma, as spreadsheets in German, French and many other languages expect it, semicolons separate the fields. */
        decimal?: "point" | "comma";
      };
      header?: never;
      path: {
        /** @description Registry id of the venue. */
        venue: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ExchangeResponse"];
        };
      };
    };
  };
  getExchange: {
    parameters: {
      query?: {
        /** @description Window of the latency chart and the tables: 24h in one-minute buckets, 7d in one-hour buckets. */
        range?: "24h" | "7d";
        /** @description Vantage point of the latency chart, the endpoints and the streams. States and days combine all regions. */
        region?: string;
        /** @description The same as JSON or as a table. Tables have addresses of their own, too, for generated clients: here they read only JSON. */
        format?: "json" | "csv" | "xlsx";
        /** @description The decimal mark. With comma, as spreadsheets in German, French and many other languages expect it, semicolons separate the fields. */
        decimal?: "point" | "comma";
      };
      header?: never;
      path: {
        /** @description Registry id of the venue. */
        venue: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ExchangeResponse"];
        };
      };
    };
  };
  getTargetState: {
    parameters: {
      query?: {
        /** @description As this region alone sees it: `state`, `since`, and those of the components. Absent: by quorum over all regions. */
        region?: string;
      };
      header?: never;
      path: {
        /** @description Registry id of the venue. */
        venue: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["VenueStateResponse"];
        };
      };
    };
  };
  getExchangeState: {
    parameters: {
      query?: {
        /** @description As this region alone sees it: `state`, `since`, and those of the components. Absent: by quorum over all regions. */
        region?: string;
      };
      header?: never;
      path: {
        /** @description Registry id of the venue. */
        venue: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["VenueStateResponse"];
        };
      };
    };
  };
  getReliability: {
    parameters: {
      query?: {
        /** @description Length of the window in UTC days, today included. */
        days?: number;
        /** @description Only venues of this category. An allowed category without venues gives empty lists. */
        category?: "exchange" | "rpc" | "market-data" | "oracle" | "stablecoin" | "bridge" | "ramp";
        /** @description The same as JSON or as a table. Tables have addresses of their own, too, for generated clients: here they read only JSON. */
        format?: "json" | "csv" | "xlsx";
        /** @description The decimal mark. With comma, as spreadsheets in German, French and many other languages expect it, semicolons separate the fields. */
        decimal?: "point" | "comma";
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ReliabilityResponse"];
        };
      };
    };
  };
  listIncidents: {
    parameters: {
      query?: {
        /** @description Only this venue, by its id or a former one. */
        venue?: string;
        /** @description Only venues of this category. An allowed category without venues gives empty lists. */
        category?: "exchange" | "rpc" | "market-data" | "oracle" | "stablecoin" | "bridge" | "ramp";
        /** @description Only open or only closed incidents, or all. */
        status?: "open" | "closed" | "all";
        /** @description Length of the window in UTC days, today included: incidents that started in it. */
        days?: number;
        /** @description Rows per page; a shorter page is the last one. */
        limit?: number;
        /** @description Cursor: only incidents that started strictly before this instant. Several may have started at one instant: paging by `before` alone skips those that did not fit into a page. Paging with `beforeId` too skips none. */
        before?: string;
        /** @description The id of the last incident received, whose startedAt is `before`: includes incidents that started at that instant and have a smaller id. */
        beforeId?: number;
        /** @description The same as JSON or as a table. Tables have addresses of their own, too, for generated clients: here they read only JSON. */
        format?: "json" | "csv" | "xlsx";
        /** @description The decimal mark. With comma, as spreadsheets in German, French and many other languages expect it, semicolons separate the fields. */
        decimal?: "point" | "comma";
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["IncidentsResponse"];
        };
      };
    };
  };
  getIncident: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Permanent name of an incident, given at opening. */
        slug: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["IncidentDetailResponse"];
        };
      };
    };
  };
  getDetection: {
    parameters: {
      query?: {
        /** @description Length of the window in UTC days, today included. */
        days?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["DetectionResponse"];
        };
      };
    };
  };
  getNotify: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["NotifyResponse"];
        };
      };
    };
  };
  getRegions: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RegionsResponse"];
        };
      };
    };
  };
  getThresholds: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ThresholdsResponse"];
        };
      };
    };
  };
}
