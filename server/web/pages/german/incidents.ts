/** Texts of incidents. */
export const ofIncidents = {
  // incident-evidence.tsx
  "Opening,": "Eröffnung,",
  "Escalation to an outage,": "Ausweitung zum Ausfall,",
  "Closing,": "Abschluss,",
  "Votes at the opening": "Stimmen bei der Eröffnung",
  "Votes at the escalation": "Stimmen bei der Ausweitung",
  "Votes at the closing": "Stimmen beim Abschluss",
  "{1} of {0} regions with a vote saw it degraded or down.": {
    one: "{1} von {0} stimmberechtigten Region sah eine Störung oder einen Ausfall.",
    other: "{1} von {0} stimmberechtigten Regionen sahen eine Störung oder einen Ausfall.",
  },
  "{0} were needed.": { one: "Nötig war {0}.", other: "Nötig waren {0}." },
  "{0} had seen it for long enough to confirm it.": "Lange genug gesehen, um es zu bestätigen: {0}.",
  "{1} of {0} regions with a vote still saw it degraded or down; {2} would be needed.": {
    one: "{1} von {0} stimmberechtigten Region sah noch eine Störung oder einen Ausfall; nötig wäre {2}.",
    other: "{1} von {0} stimmberechtigten Regionen sahen noch eine Störung oder einen Ausfall; nötig wären {2}.",
  },
  "At each decision, every region votes with its newest samples. These are the votes as they were then.":
    "Bei jeder Entscheidung stimmt jede Region mit ihren neuesten Messungen ab. Dies sind die Stimmen, wie sie damals waren.",
  "The incident was closed without votes: {0}.": "Der Vorfall wurde ohne Abstimmung geschlossen: {0}.",
  "We measure from {0}; those that voted measured from {1}.":
    "Wir messen aus {0}; die Regionen, die abgestimmt haben, maßen von {1} aus.",
  "{0} regions": { one: "{0} Region", other: "{0} Regionen" },
  "{0} different places": { one: "{0} Standort", other: "{0} verschiedenen Standorten" },
  "Regions without a vote:": "Regionen ohne Stimme:",
  "We have no sample of it.": "Von ihr liegt keine Messung vor.",
  "Its newest sample was of {0}.": "Ihre neueste Messung war von {0}.",
  "Measured from: {0}.": "Gemessen von: {0}.",
  "place not known": "Standort nicht bekannt",
  "{0} could not be tried, because the venue prevented it":
    "{0} konnten nicht versucht werden, weil der Anbieter es verhinderte",
  "failing in part: {0} of {1} over several minutes": "teilweise fehlgeschlagen: {0} von {1} über mehrere Minuten",
  "the venue's words: “{0}”": "in den Worten des Anbieters: „{0}“",
  none: "keine",
  unknown: "unbekannt",
  "machine {0}": "Rechner {0}",
  "probe {0}": "Sonde {0}",
  "All regions": "Alle Regionen",
  "This is the latency of the endpoint itself.": "Dies ist die Latenz des Endpunkts selbst.",
  "A stream has no latency of its own; this is that of the venue's endpoints.":
    "Ein Stream hat keine eigene Latenz; dies ist die der Endpunkte des Anbieters.",
  "It is kept by whole minutes, so a short incident includes some time before and after it.":
    "Sie wird nach ganzen Minuten aufbewahrt; ein kurzer Vorfall enthält deshalb auch etwas Zeit davor und danach.",
  "It is kept by whole hours, since the incident lasted longer than a day.":
    "Sie wird nach ganzen Stunden aufbewahrt, weil der Vorfall länger als einen Tag dauerte.",
  "Not known: there was no good answer in the day before, nor during the incident.":
    "Nicht bekannt: Weder am Tag davor noch während des Vorfalls gab es eine fehlerfreie Antwort.",
  "Median before: {0}; during: {1}": "Median davor: {0}; währenddessen: {1}",
  "This incident as JSON": "Dieser Vorfall als JSON",
  "The venue's incidents as CSV": "Die Vorfälle des Anbieters als CSV",
  "The same as a workbook (XLSX)": "Dasselbe als Arbeitsmappe (XLSX)",
  "All limits and their reasons": "Alle Grenzwerte und ihre Begründung",
  "How to check an incident step by step": "Wie man einen Vorfall Schritt für Schritt prüft",
  "How a verdict is reached": "Wie ein Urteil zustande kommt",
  "How we measure": "Wie wir messen",
  "How we compare ourselves with the venues' notices": "Wie wir uns mit den Meldungen der Anbieter vergleichen",
  "Who has access to the database as an analyst can recompute the votes in one statement. This compares them with those above:":
    "Wer als Analyst Zugang zur Datenbank hat, kann die Stimmen mit einer Anweisung nachrechnen. Diese vergleicht sie mit den obigen:",
  "Statement that recomputes the votes": "Anweisung, die die Stimmen nachrechnet",
  "These are the samples of the five minutes before the opening:":
    "Dies sind die Messungen der fünf Minuten vor der Eröffnung:",
  "Statement that lists the samples": "Anweisung, die die Messungen auflistet",
  "Raw samples are kept for eight days. Those of this incident are gone, and the votes above are the only record.":
    "Einzelne Messungen werden acht Tage aufbewahrt. Die dieses Vorfalls sind gelöscht, und die Stimmen oben sind die einzige Aufzeichnung.",
  "The raw samples of this component, from ten minutes before the incident began to five minutes after it closed, are public for eight days: {0}, {1} or {2}.":
    "Die einzelnen Messungen dieser Komponente, von zehn Minuten vor Beginn des Vorfalls bis fünf Minuten nach seinem Abschluss, sind acht Tage lang öffentlich: {0}, {1} oder {2}.",
  "as CSV": "als CSV",
  "as a workbook": "als Arbeitsmappe",
  "as JSON": "als JSON",
  "{0} recomputes the votes from them.": "{0} rechnet daraus die Stimmen nach.",
  "A short script": "Ein kurzes Skript",
  Region: "Region",
  Samples: "Messungen",
  Failed: "Fehlgeschlagen",
  Slow: "Langsam",
  "Bad in a row": "Schlechte in Folge",
  Faults: "Fehler",
  "Median (expected)": "Median (erwartet)",
  "Age of newest": "Alter der neuesten",
  "Measured from": "Gemessen von",
  "Samples in the minutes of the incident, by region and fault":
    "Messungen in den Minuten des Vorfalls, nach Region und Fehler",
  "Latency of good answers, by region": "Latenz fehlerfreier Antworten, nach Region",
  "Before (outline) and during (filled)": "Davor (Umriss) und währenddessen (gefüllt)",
  "Median in the day before": "Median am Tag davor",
  "Median during": "Median währenddessen",
  "95th percentile during": "95. Perzentil währenddessen",
  "Slowest median during": "Langsamster Median währenddessen",
  "Answers before": "Antworten davor",
  "Answers during": "Antworten währenddessen",

  // incident.tsx
  "Copy the link to this incident": "Link zu diesem Vorfall kopieren",
  "What happened when": "Was wann geschah",
  "Why we decided so": "Warum wir so entschieden haben",
  "Failed samples during the incident": "Fehlgeschlagene Messungen während des Vorfalls",
  "Latency before and during the incident": "Latenz vor dem Vorfall und währenddessen",
  "What the venue says": "Was der Anbieter sagt",
  "Related incidents": "Verwandte Vorfälle",
  "How to check this yourself": "Wie Sie dies selbst prüfen",
  "{0} now": "{0} jetzt",
  "we cannot tell at the moment.": "das wissen wir zurzeit nicht.",
  "since {0}": "seit {0}",
  "The venue had announced maintenance from {0} with no stated end: {1}.":
    "Der Anbieter hatte eine Wartung ab {0} ohne genanntes Ende angekündigt: {1}.",
  "The venue had announced maintenance from {0} until {1}: {2}.":
    "Der Anbieter hatte eine Wartung von {0} bis {1} angekündigt: {2}.",
  "We read the announcement at {0}.": "Die Ankündigung haben wir am {0} gelesen.",
  "The incident lasted longer than the maintenance.": "Der Vorfall dauerte länger als die Wartung.",
  "What a venue announces changes no measurement.": "Was ein Anbieter ankündigt, ändert keine Messung.",
  "{0}.": "{0}.",
  "Too few regions have seen trouble for the last {0}; the incident is still open.":
    "Seit {0} haben zu wenige Regionen eine Störung gesehen; der Vorfall ist noch offen.",
  "{0}, {1}.": "{0}, {1}.",
  "{0} limited our requests for {1} on {2}": "{0} begrenzte am {2}, {1} lang unsere Anfragen",
  "{0} said that it did not trade for {1} on {2}": "{0} gab am {2}, {1} lang an, nicht zu handeln",
  "{0} refused our region for {1} on {2}": "{0} wies am {2}, {1} lang unsere Region ab",
  "{0} was down for {1} on {2}": "{0} war am {2}, {1} lang ausgefallen",
  "{0} was failing for {1} on {2}": "{0} war am {2}, {1} lang gestört und zeitweise ausgefallen",
  "{0} was degraded for {1} on {2}": "{0} war am {2}, {1} lang gestört",
  "{0} began to limit our requests at {1}.": "{0} begann am {1}, unsere Anfragen zu begrenzen.",
  "{0} began to say that it does not trade at {1}.": "{0} gab ab {1} an, nicht zu handeln.",
  "{0} began to refuse our region at {1}.": "{0} begann am {1}, unsere Region abzuweisen.",
  "{0} became degraded at {1}.": "{0} war ab {1} gestört.",
  "{0} began to fail at {1}.": "{0} fiel ab {1} aus.",
  "{0} has limited our requests since {1} ({2})": "{0} begrenzt seit {1} ({2}) unsere Anfragen",
  "{0} has said that it does not trade since {1} ({2})": "{0} gibt seit {1} ({2}) an, nicht zu handeln",
  "{0} has refused our region since {1} ({2})": "{0} weist seit {1} ({2}) unsere Region ab",
  "{0} has been degraded since {1} ({2})": "{0} ist seit {1} ({2}) gestört",
  "{0} has been failing since {1} ({2})": "{0} fällt seit {1} ({2}) aus",
  "{0} no trouble seen for {1}, still open; began on {2}":
    "{0} seit {1} ohne erkennbare Störung, noch offen; begann am {2}",
  "{0} has limited our requests for {1}, since {2}": "{0} begrenzt seit {1} unsere Anfragen, Beginn {2}",
  "{0} has said that it does not trade for {1}, since {2}": "{0} gibt seit {1} an, nicht zu handeln, Beginn {2}",
  "{0} has refused our region for {1}, since {2}": "{0} weist seit {1} unsere Region ab, Beginn {2}",
  "{0} degraded for {1}, since {2}": "{0} seit {1} gestört, Beginn {2}",
  "{0} failing for {1}, since {2}": "{0} fällt seit {1} aus, Beginn {2}",
  "enough regions saw it fail in part, or answer far slower than usual.":
    "genügend Regionen sahen teilweise Fehler oder viel langsamere Antworten als üblich.",
  "enough regions saw at least half of their requests or messages fail.":
    "genügend Regionen sahen, dass mindestens die Hälfte ihrer Anfragen oder Nachrichten fehlschlug.",
  "An endpoint": "Ein Endpunkt",
  "A stream of messages": "Ein Nachrichten-Stream",
  "The WebSocket that all streams of the venue share":
    "Die WebSocket-Verbindung, die alle Streams des Anbieters gemeinsam nutzen",
  "from measured silences": "aus gemessenen Pausen",
  "from the rate that the venue documents": "aus der Rate, die der Anbieter angibt",
  "from a rate that we counted": "aus einer von uns gezählten Rate",
  "an estimate": "eine Schätzung",
  Status: "Status",
  Severity: "Schwere",
  "enough regions had their requests limited. The venue answers, and we may simply ask too often from one address.":
    "die Anfragen genügend vieler Regionen wurden begrenzt. Der Anbieter antwortet; vielleicht fragen wir schlicht zu oft von einer Adresse aus.",
  "At its worst it was an outage.": "In der schlimmsten Phase war es ein Ausfall.",
  "Most frequent fault": "Häufigster Fehler",
  "What we measure": "Was wir messen",
  Agreement: "Übereinstimmung",
  Flapping: "Wiederkehrend",
  "It is at least the third incident of the same component within an hour. It closes only after a longer hold.":
    "Dies ist mindestens der dritte Vorfall derselben Komponente innerhalb einer Stunde. Er wird erst nach einer längeren Wartezeit geschlossen.",
  "Unknown: no sample was taken.": "Unbekannt: Es wurde nicht gemessen.",
  "None: none of {0} samples failed. The answers were too slow.":
    "Keiner: Keine von {0} Messungen schlug fehl. Die Antworten waren zu langsam.",
  "{0} ({1}): {2} of {3} failed samples.": "{0} ({1}): {2} von {3} fehlgeschlagenen Messungen.",
  "whose address is not on record": "dessen Adresse nicht verzeichnet ist",
  "We call the stream silent after {0} (present limit, {1})":
    "Als verstummt gilt der Stream nach {0} (heutiger Grenzwert, {1})",
  "The only region with a vote had to see the trouble before we opened the incident.":
    "Die einzige stimmberechtigte Region musste die Störung sehen, bevor wir den Vorfall eröffneten.",
  "{0} of the {1} regions with a vote had to see the trouble before we opened the incident.":
    "{0} der {1} stimmberechtigten Regionen mussten die Störung sehen, bevor wir den Vorfall eröffneten.",
  "These did: {1}.": { one: "Diese sah sie: {1}.", other: "Diese sahen sie: {1}." },
  "The venue posted a notice {0} after we opened this incident:":
    "Der Anbieter veröffentlichte eine Meldung {0} nach unserer Eröffnung dieses Vorfalls:",
  "The venue posted a notice {0} before we opened this incident:":
    "Der Anbieter veröffentlichte eine Meldung {0} vor unserer Eröffnung dieses Vorfalls:",
  "Its feed cannot be read at the moment: {0}.": "Der Feed des Anbieters ist zurzeit nicht lesbar: {0}.",
  "We last read its feed at {0}.": "Zuletzt haben wir den Feed am {0} gelesen.",
  "All of its notices that began within six hours of the beginning of this incident. The words are the venue's; so are the times where it gives any, otherwise they are those of our readings:":
    "Alle Meldungen des Anbieters, die innerhalb von sechs Stunden um den Beginn dieses Vorfalls begannen. Der Wortlaut stammt vom Anbieter, ebenso die Zeiten, soweit er welche nennt; sonst sind es die unserer Lesungen:",
  "The venue's own status page": "Die Statusseite des Anbieters",
  "{0} “{1}”. Nothing tests that it is about the same fault.":
    "{0} „{1}“. Dass sie denselben Fehler betrifft, ist nicht geprüft.",
  "It has no feed that we can read, so we do not know whether it said anything.":
    "Der Anbieter hat keinen Feed, den wir lesen können; ob er etwas gesagt hat, wissen wir nicht.",
  "Its feed announces maintenance only. It cannot say that something is down, so its silence means nothing.":
    "Der Feed des Anbieters kündigt nur Wartungen an. Ausfälle meldet er nicht, sein Schweigen bedeutet also nichts.",
  "We could not read its feed then, so we do not know whether it said anything.":
    "Den Feed konnten wir zu dieser Zeit nicht lesen; ob der Anbieter etwas gesagt hat, wissen wir nicht.",
  "It has said nothing about an incident so far. We could read its feed when this one began; venues often write hours later.":
    "Der Anbieter hat bisher keinen Vorfall gemeldet. Den Feed konnten wir zu Beginn lesen; Anbieter schreiben oft erst Stunden später.",
  "It has said nothing about an incident. We could read its feed when this one began, and found no notice within six hours of that.":
    "Der Anbieter hat keinen Vorfall gemeldet. Den Feed konnten wir zu Beginn lesen und fanden innerhalb von sechs Stunden keine Meldung.",
  "The venue posted a notice; whether it was before or after we opened this incident is not known:":
    "Der Anbieter veröffentlichte eine Meldung; ob vor oder nach unserer Eröffnung dieses Vorfalls, ist nicht bekannt:",
  "The venue posted a notice at the moment at which we opened this incident:":
    "Der Anbieter veröffentlichte eine Meldung im selben Moment, in dem wir diesen Vorfall eröffneten:",
  "Began {0}": "Begann am {0}",
  "posted at an unknown time": "zu unbekannter Zeit veröffentlicht",
  "posted {0}": "veröffentlicht am {0}",
  "not resolved according to the venue": "laut Anbieter nicht behoben",
  "resolved {0}": "behoben am {0}",
  "The venue has removed it since.": "Der Anbieter hat sie inzwischen entfernt.",
  "Its times are not plausible.": "Ihre Zeiten sind nicht plausibel.",
  "Trouble began": "Die Störung begann",
  "We opened the incident": "Wir eröffneten den Vorfall",
  "It became an outage": "Die Störung wurde zum Ausfall",
  "We closed the incident": "Wir schlossen den Vorfall",
  "{0} after the beginning": "{0} nach dem Beginn",
  "The same venue, around that time": "Derselbe Anbieter, etwa zur selben Zeit",
  "The same component, within ninety days": "Dieselbe Komponente, innerhalb von neunzig Tagen",
  "Other venues, at the same time": "Andere Anbieter, zur selben Zeit",
  "None: the venue had no other incident within six hours, nor any other venue within ten minutes.":
    "Keine: Der Anbieter hatte innerhalb von sechs Stunden keinen weiteren Vorfall, und kein anderer Anbieter innerhalb von zehn Minuten.",
  "All incidents of this venue": "Alle Vorfälle dieses Anbieters",
  "once enough regions, including one that had seen the trouble, had seen it healthy for long enough":
    "als genügend Regionen, darunter eine, die die Störung gesehen hatte, lange genug einen störungsfreien Zustand gesehen hatten",
  "since for a long time too few regions had seen it fail or seen it healthy: its end is unknown":
    "weil lange Zeit zu wenige Regionen einen Ausfall oder einen störungsfreien Zustand gesehen hatten: Das Ende ist unbekannt",
  "Open. A quorum last saw the trouble at {0}. It closes once enough regions have seen it healthy for long enough.":
    "Offen. Ein Quorum sah die Störung zuletzt am {0}. Der Vorfall wird geschlossen, sobald genügend Regionen lange genug einen störungsfreien Zustand gesehen haben.",
  "Closed. A quorum last saw the trouble at {0}. We closed the incident at {1}":
    "Geschlossen. Ein Quorum sah die Störung zuletzt: {0}. Von uns geschlossen: {1}",
  "A quorum last saw the trouble": "Ein Quorum sah die Störung zum letzten Mal",

  // incidents.tsx
  "We can only find an incident where we measured.": "Wir finden nur Vorfälle, während wir gemessen haben.",
  "Show all incidents": "Alle Vorfälle anzeigen",
  "Other formats": "Andere Formate",
  "This selection as JSON": "Diese Auswahl als JSON",
  "This selection as CSV": "Diese Auswahl als CSV",
  "This selection as a workbook (XLSX)": "Diese Auswahl als Arbeitsmappe (XLSX)",
  "{0} and before {1}": "{0} und vor {1}",
  "Pages of the history": "Seiten des Verlaufs",
  "Newest incidents": "Neueste Vorfälle",
  "Older incidents": "Ältere Vorfälle",
  "No incident of this selection began {0}.": "Kein Vorfall dieser Auswahl {0}.",
  "These are the newest {0} incidents that began {1}.": {
    one: "Dies ist der neueste Vorfall {1}.",
    other: "Dies sind die neuesten {0} Vorfälle {1}.",
  },
  "{0} incidents began {1}.": { one: "Ein Vorfall {1}.", other: "{0} Vorfälle {1}." },
  "today ({0}, UTC)": "heute ({0}, UTC)",
  "since {0} ({1} UTC days, today included)": "seit {0} ({1} Tage in UTC, heute eingeschlossen)",
  "It is open.": "Er ist offen.",
  "{0} of them are open.": { one: "Einer davon ist offen.", other: "{0} davon sind offen." },
  Filter: "Filtern",
  "Open and closed": "Offene und geschlossene",
  "Only open": "Nur offene",
  "Only closed": "Nur geschlossene",
};
