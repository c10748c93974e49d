/** Texts of the pages that compare venues, regions, notices and transfers. */
export const ofComparisons = {
  // compare.tsx
  "Venues compared {0}": "Anbieter im Vergleich {0}",
  "Uptime is the share of the measured minutes in which a venue was not down; in a minute without failures fewer than a fifth of each component's samples failed. Slow answers are no failures: they make incidents, which decide between equal shares. The bounds give the uptime of all scheduled minutes as if every unmeasured minute had been down, and as if none had. So of two venues whose bounds do not overlap, one was more available, whatever happened in the unmeasured minutes; the others share a rank. Days are UTC days, and today counts until a few minutes ago.":
    "Die Verfügbarkeit ist der Anteil der gemessenen Minuten, in denen ein Anbieter nicht ausgefallen war; in einer Minute ohne Fehler schlug bei jeder Komponente weniger als ein Fünftel der Messungen fehl. Langsame Antworten sind keine Fehler: Sie führen zu Vorfällen, die bei gleichem Anteil entscheiden. Die Grenzen geben die Verfügbarkeit aller vorgesehenen Minuten an, als wäre jede nicht gemessene ein Ausfall gewesen und als wäre es keine. Von zwei Anbietern, deren Grenzen sich nicht überschneiden, war also einer verfügbarer, was immer in den nicht gemessenen Minuten geschah; die anderen teilen sich einen Rang. Tage sind Tage in UTC, und heute zählt bis vor wenigen Minuten.",
  "No venue of this selection is measured yet.": "Von dieser Auswahl ist noch kein Anbieter gemessen.",
  "No venue was measured enough {0} to be ranked.":
    "Kein Anbieter wurde {0} genug gemessen, um einen Rang zu erhalten.",
  "{0} alone has rank {1} {2}.": "{0} hat {2} allein Rang {1}.",
  "All {0} venues share rank {1} {2}: the measurements do not separate them.":
    "Alle {0} Anbieter teilen sich {2} Rang {1}: Die Messungen unterscheiden sie nicht.",
  "{0} of {1} venues share rank {2} {3}: the measurements do not separate them.":
    "{0} von {1} Anbietern teilen sich {3} Rang {2}: Die Messungen unterscheiden sie nicht.",
  "The least trouble among these: {0}, without failures in {1} of the measured minutes.":
    "Die wenigsten Störungen unter ihnen: {0}, ohne Fehler in {1} der gemessenen Minuten.",
  "What these figures mean": "Was diese Werte bedeuten",
  "As JSON": "Als JSON",
  "As CSV": "Als CSV",
  "As a workbook for spreadsheets (XLSX)": "Als Arbeitsmappe für Tabellenkalkulationen (XLSX)",
  "The same figures, and how they are made": "Dieselben Zahlen, und wie sie entstehen",
  "Venues by rank {0}": "Anbieter nach Rang {0}",
  "Without failures": "Ohne Fehler",
  "Bounds, drawn from {0} to {1}": "Grenzen, gezeichnet von {0} bis {1}",
  "Minutes down": "Ausgefallene Minuten",
  "Minutes degraded by failures": "Durch Fehler gestörte Minuten",
  "Latency of the median hour": "Latenz der mittleren Stunde",
  "Its 95th percentile": "Ihr 95. Perzentil",
  "Longest incident": "Längster Vorfall",
  "Not measured enough: less than half of the minutes, so there is no uptime":
    "Nicht genug gemessen: weniger als die Hälfte der Minuten, deshalb keine Verfügbarkeit",
  "Rank {0}": "Rang {0}",
  "Rank {0}, shared by {1} venues: the measurements do not separate them (the least trouble first)":
    "Rang {0}, geteilt von {1} Anbietern: Die Messungen unterscheiden sie nicht (wenigste Störungen zuerst)",
  "All {0} venues together": { one: "Dieser Anbieter", other: "Alle {0} Anbieter zusammen" },
  "not enough measured": "nicht genug gemessen",
  "{0} open": "{0} offen",
  "too few answers": "zu wenige Antworten",
  "What does not count": "Was nicht zählt",
  "Every measured minute of every region counts: no region was impaired.":
    "Jede gemessene Minute jeder Region zählt: Keine Region war beeinträchtigt.",
  "Recognised by {0}.": "Erkannt an {0}.",
  "{0} was left out for {1}, from {2} until {3}.": "{0} blieb {1} lang unberücksichtigt, von {2} bis {3}.",
  "{0} was left out for {1}, from {2} until now, and it still lasts.":
    "{0} bleibt seit {1} unberücksichtigt, ab {2}; es dauert noch an.",
  "{0} periods are left out of all figures above, {1} in all. A region had trouble of its own then, so what it saw is not counted.":
    {
      one: "Ein Zeitraum fehlt in allen Zahlen oben, insgesamt {1}. Eine Region hatte damals selbst eine Störung; was sie sah, zählt deshalb nicht.",
      other:
        "{0} Zeiträume fehlen in allen Zahlen oben, insgesamt {1}. Eine Region hatte damals selbst eine Störung; was sie sah, zählt deshalb nicht.",
    },
  "{0} older periods are listed in the JSON of this page.": {
    one: "{0} älterer Zeitraum steht im JSON dieser Seite.",
    other: "{0} ältere Zeiträume stehen im JSON dieser Seite.",
  },

  // detection.tsx
  "Both: a pair": "Beide: ein Paar",
  "One incident and one notice of a venue that began within six hours of each other, and each is the nearest to the other.":
    "Ein Vorfall und eine Meldung eines Anbieters, die innerhalb von sechs Stunden begannen und einander am nächsten sind.",
  "Ours near a notice": "Unsere nahe einer Meldung",
  "An incident with a notice within six hours, but the notice is nearer to another incident. One outage often makes several incidents and one notice.":
    "Ein Vorfall mit einer Meldung innerhalb von sechs Stunden, die einem anderen Vorfall aber näher ist. Aus einem Ausfall werden oft mehrere Vorfälle und eine Meldung.",
  "Only ours": "Nur unsere",
  "An incident without any notice of the venue within six hours.":
    "Ein Vorfall ohne Meldung des Anbieters innerhalb von sechs Stunden.",
  "Notices near ours": "Meldungen nahe unseren",
  "A notice with an incident within six hours, but the incident is nearer to another notice.":
    "Eine Meldung mit einem Vorfall innerhalb von sechs Stunden, der einer anderen Meldung aber näher ist.",
  "Only the venue's": "Nur die des Anbieters",
  "A notice without one of our incidents within six hours.":
    "Eine Meldung ohne einen unserer Vorfälle innerhalb von sechs Stunden.",
  "Who was first": "Wer früher war",
  "The time from our announcement of the incident to the publication of the notice, as the median of the pairs. When each says that it began plays no part, because that is written in hindsight.":
    "Die Zeit von unserer Bekanntgabe des Vorfalls bis zur Veröffentlichung der Meldung, als Median der Paare. Wann es nach eigener Angabe begann, spielt keine Rolle, weil das im Nachhinein geschrieben wird.",
  "Our incidents and the venues' own notices {0}": "Unsere Vorfälle und die Meldungen der Anbieter {0}",
  "Nothing tests that a notice and an incident are about the same fault. They are compared by the times at which they began, and some pairs arise by chance.":
    "Ob eine Meldung und ein Vorfall denselben Fehler betreffen, ist nicht geprüft. Verglichen wird nach den Zeiten ihres Beginns, und manche Paare entstehen zufällig.",
  "How this is compared, with SQL that recomputes every number":
    "Wie verglichen wird, mit SQL, das jede Zahl nachrechnet",
  "What the columns mean": "Was die Spalten bedeuten",
  "{0} notices of maintenance and {1} about what we do not measure are not compared.": {
    one: "{0} Wartungsmeldung und {1} zu nicht Gemessenem werden nicht verglichen.",
    other: "{0} Wartungsmeldungen und {1} zu nicht Gemessenem werden nicht verglichen.",
  },
  "Nothing could be compared {0}: we did not measure any venue while we could read what it says.":
    "Verglichen werden konnte {0} nichts: Kein Anbieter wurde gemessen, während wir lesen konnten, was er sagt.",
  "None of our incidents {0} can be compared with the notices of its venue.":
    "Keiner unserer Vorfälle {0} lässt sich mit den Meldungen des Anbieters vergleichen.",
  "No notice of the venues can be compared.": "Keine Meldung der Anbieter lässt sich vergleichen.",
  "Venues posted no notice within six hours of any of our {0} comparable incidents {1}.": {
    one: "Der Anbieter veröffentlichte {1} innerhalb von sechs Stunden keine Meldung zu unserem einzigen vergleichbaren Vorfall.",
    other:
      "Die Anbieter veröffentlichten {1} zu keinem unserer {0} vergleichbaren Vorfälle innerhalb von sechs Stunden eine Meldung.",
  },
  "Venues posted a notice within six hours of all of our {0} comparable incidents {1}.": {
    one: "Der Anbieter veröffentlichte {1} innerhalb von sechs Stunden eine Meldung zu unserem einzigen vergleichbaren Vorfall.",
    other:
      "Die Anbieter veröffentlichten {1} zu allen unseren {0} vergleichbaren Vorfällen innerhalb von sechs Stunden eine Meldung.",
  },
  "Venues posted a notice within six hours of {0} of our {1} comparable incidents {2}.":
    "Die Anbieter veröffentlichten {2} zu {0} unserer {1} vergleichbaren Vorfälle innerhalb von sechs Stunden eine Meldung.",
  "{0} notices of the venues can be compared: {1} with one of our incidents within six hours, and {2} without any.": {
    one: "{0} Meldung der Anbieter ist vergleichbar: {1} mit einem unserer Vorfälle innerhalb von sechs Stunden, {2} ohne.",
    other:
      "{0} Meldungen der Anbieter sind vergleichbar: {1} mit einem unserer Vorfälle innerhalb von sechs Stunden, {2} ohne.",
  },
  "{0} notices are paired with one incident each.": {
    one: "{0} Meldung bildet mit einem Vorfall ein Paar.",
    other: "{0} Meldungen bilden mit je einem Vorfall ein Paar.",
  },
  "{0} of {1} venues are compared.": {
    one: "{0} von {1} Anbietern ist verglichen.",
    other: "{0} von {1} Anbietern sind verglichen.",
  },
  "An incident counts only if we know what the venue's feed said from six hours before it to six hours after it. A notice without a pair counts only if it began more than six hours ago and we measured the venue then.":
    "Ein Vorfall zählt nur, wenn wir wissen, was der Feed des Anbieters von sechs Stunden davor bis sechs Stunden danach sagte. Eine Meldung ohne Paar zählt nur, wenn sie vor mehr als sechs Stunden begann und wir den Anbieter damals gemessen haben.",
  "Days compared": "Verglichene Tage",
  "Our incidents compared": "Unsere verglichenen Vorfälle",
  "Notices compared": "Verglichene Meldungen",
  "Venues compared with what they say {0}": "Anbieter im Vergleich mit dem, was sie sagen, {0}",
  "The venue's feed": "Feed des Anbieters",
  "medians of venues do not add up": "Mediane der Anbieter lassen sich nicht zusammenfassen",
  "Not comparable, because the venue has no feed that a program can read.":
    "Nicht vergleichbar, weil der Anbieter keinen Feed hat, den ein Programm lesen kann.",
  "Not comparable, because its feed only announces maintenance: its silence about an outage means nothing.":
    "Nicht vergleichbar, weil der Feed nur Wartungen ankündigt: Schweigen über einen Ausfall bedeutet nichts.",
  "Not comparable, because there was no day on which we measured it and could read its feed.":
    "Nicht vergleichbar, weil es keinen Tag gab, an dem wir gemessen haben und den Feed lesen konnten.",
  "no pairs": "keine Paare",
  "both at once (median)": "beide zugleich (Median)",
  "we were, by {0} (median)": "wir, um {0} (Median)",
  "the venue was, by {0} (median)": "der Anbieter, um {0} (Median)",
  "{0} pairs with known times: a median needs five": {
    one: "{0} Paar mit bekannten Zeiten: Ein Median braucht fünf",
    other: "{0} Paare mit bekannten Zeiten: Ein Median braucht fünf",
  },
  "not read yet": "noch nicht gelesen",
  "readable, last read {0}": "lesbar, zuletzt gelesen {0}",
  "not readable since {0}": "nicht lesbar seit {0}",

  // regions.tsx
  "Regions: {0}": "Regionen: {0}",
  "Impaired: {0}.": "Beeinträchtigt: {0}.",
  "Silent: {0}.": "Ohne Daten: {0}.",
  "The only region that has a vote now decides whether we call a venue degraded or down.":
    "Die einzige derzeit stimmberechtigte Region entscheidet, ob ein Anbieter als gestört oder ausgefallen gilt.",
  "{0} of the {1} regions that have a vote now must agree before we call a venue degraded or down.":
    "{0} der {1} derzeit stimmberechtigten Regionen müssen übereinstimmen, bevor ein Anbieter als gestört oder ausgefallen gilt.",
  "Each region that reports now runs on a machine of its own, as far as its probes have named it.":
    "Jede Region, die jetzt berichtet, läuft auf einem eigenen Rechner, soweit ihre Sonden ihn genannt haben.",
  "When a region has no vote": "Wann eine Region keine Stimme hat",
  "A region that sent nothing in the last minute has no vote. A region is impaired when most venues turn bad there at once and in no other region whose own network works. It keeps measuring, but neither its votes nor what it saw are counted.":
    "Eine Region, die in der letzten Minute nichts gesendet hat, hat keine Stimme. Beeinträchtigt ist eine Region, wenn dort die meisten Anbieter zugleich ausfallen und in keiner anderen Region mit funktionierendem Netz. Sie misst weiter, aber weder ihre Stimmen noch ihre Beobachtungen zählen.",
  "There are no regions.": "Es gibt keine Regionen.",
  "None of {0} regions report.": {
    one: "Die einzige Region berichtet nicht.",
    other: "Von {0} Regionen berichtet keine.",
  },
  "The only region reports.": "Die einzige Region berichtet.",
  "{0} of {1} regions report.": {
    one: "{0} von {1} Regionen berichtet.",
    other: "{0} von {1} Regionen berichten.",
  },
  "Regions whose probes all run on one machine are one vantage. The {1} regions that report now are {0} vantages.": {
    one: "Regionen, deren Sonden alle auf einem Rechner laufen, sind ein Standort. Die {1} Regionen, die jetzt berichten, sind {0} Standort: Eine Störung seines Netzes kann wie eine Störung der Anbieter aussehen.",
    other:
      "Regionen, deren Sonden alle auf einem Rechner laufen, sind ein Standort. Die {1} Regionen, die jetzt berichten, sind {0} Standorte.",
  },
  "No region has a vote now, and {0} must agree. So the state of every venue is unknown.":
    "Derzeit hat keine Region eine Stimme, und {0} müssen übereinstimmen. Deshalb ist der Zustand jedes Anbieters unbekannt.",
  "Only {0} regions have a vote now, and {1} must agree. So the state of every venue is unknown.": {
    one: "Derzeit hat nur {0} Region eine Stimme, und {1} müssen übereinstimmen. Deshalb ist der Zustand jedes Anbieters unbekannt.",
    other:
      "Derzeit haben nur {0} Regionen eine Stimme, und {1} müssen übereinstimmen. Deshalb ist der Zustand jedes Anbieters unbekannt.",
  },
  "No route": "Kein Weg ins Netz",
  "No name resolution": "Keine Namensauflösung",
  "No free socket": "Kein freier Socket",
  "Wrong clock": "Falsche Uhrzeit",
  "Process or machine stalls": "Prozess oder Rechner stockt",
  "Samples cannot be stored": "Messungen lassen sich nicht speichern",
  "Impaired since {0}": "Beeinträchtigt seit {0}",
  "No probe of this region is known.": "Von dieser Region ist keine Sonde bekannt.",
  "Newest sample": "Neueste Messung",
  "none known": "keine bekannt",
  "nothing for {0}": "nichts seit {0}",
  "Last hour": "Letzte Stunde",
  "no samples": "keine Messungen",
  "{0} samples, {1} of them good": { one: "{0} Messung, {1} davon gut", other: "{0} Messungen, {1} davon gut" },
  "Not measured": "Nicht gemessen",
  "{0} slots since its probes started, for our own reasons": {
    one: "{0} Zeitfenster seit dem Start der Sonden, aus eigenen Gründen",
    other: "{0} Zeitfenster seit dem Start der Sonden, aus eigenen Gründen",
  },
  "Measures from": "Misst von",
  Machine: "Rechner",
  "Never seen good: {0} components": {
    one: "Noch nie fehlerfrei: {0} Komponente",
    other: "Noch nie fehlerfrei: {0} Komponenten",
  },
  "Components that no region has seen good, as {0} sees them":
    "Komponenten, die noch keine Region fehlerfrei gesehen hat, wie {0} sie sieht",
  "What it saw last": "Zuletzt gesehen",
  Since: "Seit",
  "What to do": "Was zu tun ist",
  "{0} more are not listed.": { one: "{0} weitere ist nicht aufgeführt.", other: "{0} weitere sind nicht aufgeführt." },
  "The entry of the registry, the network, or the country of this place may be the cause. Until a region has seen them good once, these components are unknown, open no incident, and count in no uptime.":
    "Ursache kann der Eintrag im Verzeichnis, das Netz oder das Land dieses Standorts sein. Solange keine Region sie einmal fehlerfrei gesehen hat, sind diese Komponenten unbekannt, eröffnen keinen Vorfall und zählen in keiner Verfügbarkeit.",
  "not known: its probes name none, or several": "nicht bekannt: die Sonden nennen keinen oder mehrere",
  "shared with no other region": "mit keiner anderen Region geteilt",
  "shared with {0}: together they are one vantage, and a fault of its network affects all of them":
    "geteilt mit {0}: zusammen sind sie ein Standort, und ein Fehler seines Netzes betrifft alle",
  "Trouble of its own": "Eigene Störungen",
  "{0} since {1}": "{0} seit {1}",
  "It keeps probes from measuring, or from measuring correctly. It never counts against a venue.":
    "Sie hindert Sonden daran, zu messen oder richtig zu messen. Gegen einen Anbieter zählt sie nie.",
  "the measurement before was still running": "die vorige Messung lief noch",
  "started too late: the process was busy, or the machine slept":
    "zu spät begonnen: der Prozess war beschäftigt, oder der Rechner schlief",
  "the process got no time to run while it measured": "der Prozess bekam während der Messung keine Rechenzeit",
  "no name could be resolved": "kein Name war auflösbar",
  "no way out of the machine, or no venue at all answered":
    "kein Weg aus dem Rechner, oder kein einziger Anbieter antwortete",
  "no free socket, port or memory": "kein freier Socket, Port oder Speicher",
  "a pause of ours, because the venue limits or blocks our requests":
    "eine Pause von uns, weil der Anbieter unsere Anfragen begrenzt oder sperrt",
  "the third party's node by which the venue is read failed":
    "der Knoten des Dritten, über den der Anbieter gelesen wird, fiel aus",
  "the clock was wrong by seconds": "die Uhr ging um Sekunden falsch",
  "a kept connection was closed just as it was used again":
    "eine gehaltene Verbindung wurde geschlossen, als sie wieder benutzt wurde",
  "the socket was not open yet": "der Socket war noch nicht offen",
  "the stream was not subscribed for the whole slot": "der Stream war nicht das ganze Zeitfenster über abonniert",
  "a bug of the probe": "ein Fehler der Sonde",
  "Probes of {0}": "Sonden von {0}",
  Probe: "Sonde",
  Version: "Version",
  Started: "Gestartet",
  "Last seen": "Zuletzt gesehen",
  "Slots not measured": "Nicht gemessene Zeitfenster",
  Clock: "Uhr",
  Vantage: "Standort",
  "not known: fewer than three venues agree": "nicht bekannt: weniger als drei Anbieter stimmen überein",
  "right, as far as we can measure it ({0} off, ±{1})": "richtig, soweit wir es messen können ({0} Abweichung, ±{1})",
  "{0} slow (±{1})": "geht {0} nach (±{1})",
  "{0} fast (±{1})": "geht {0} vor (±{1})",
  "No impairment in the last seven days.": "Keine Beeinträchtigung in den letzten sieben Tagen.",
  "Impairments of the last seven days": "Beeinträchtigungen der letzten sieben Tage",
  "Impairments of {0}, newest first": "Beeinträchtigungen von {0}, neueste zuerst",
  Recognised: "Erkannt",
  Ended: "Endete",
  "it still lasts": "dauert noch an",
  Lasted: "Dauer",
  "{0} of {1} measured: {2}": "{0} von {1} gemessenen: {2}",

  // transfers.tsx
  "Withdrawals paused now": "Derzeit ausgesetzte Auszahlungen",
  "No venue that says so has paused withdrawals of the assets that we read.":
    "Kein Anbieter, der darüber Auskunft gibt, hat Auszahlungen der Assets ausgesetzt, die wir lesen.",
  "Paused withdrawals, the newest pause first": "Ausgesetzte Auszahlungen, die neueste Unterbrechung zuerst",
  "Deposits paused now": "Derzeit ausgesetzte Einzahlungen",
  "No venue that says so has paused deposits of the assets that we read.":
    "Kein Anbieter, der darüber Auskunft gibt, hat Einzahlungen der Assets ausgesetzt, die wir lesen.",
  "Paused deposits, the newest pause first": "Ausgesetzte Einzahlungen, die neueste Unterbrechung zuerst",
  "This is what the venues declare in their own lists, which we read every five minutes. We do not measure it: we have no accounts, and send no coins. A venue may pause more than it declares.":
    "Dies geben die Anbieter in ihren eigenen Listen an, die wir alle fünf Minuten lesen. Wir messen es nicht: Wir haben keine Konten und versenden nichts. Ein Anbieter kann mehr aussetzen, als er angibt.",
  "All of it as JSON": "Alles als JSON",
  "All of it as CSV": "Alles als CSV",
  "All of it as a workbook (XLSX)": "Alles als Arbeitsmappe (XLSX)",
  "No venue's list of deposits and withdrawals was read yet.":
    "Noch wurde von keinem Anbieter eine Liste der Ein- und Auszahlungen gelesen.",
  "It is not known whether withdrawals are paused.": "Ob Auszahlungen ausgesetzt sind, ist nicht bekannt.",
  "No venue that says so has paused withdrawals.":
    "Kein Anbieter, der darüber Auskunft gibt, hat Auszahlungen ausgesetzt.",
  "Withdrawals are paused at {0}.": "Auszahlungen sind ausgesetzt bei {0}.",
  "Pauses in 90 days": "Unterbrechungen in 90 Tagen",
  "Paused in 90 days": "Ausgesetzt in 90 Tagen",
  "Its list: {0}": "In der Liste: {0}",
  "It has no notice near this.": "Eine Meldung in zeitlicher Nähe gibt es nicht.",
  "Its notice of {0}: {1} ({2})": "Meldung vom {0}: {1} ({2})",
  "Changed too often to be known": "Zu häufig geändert, um es zu wissen",
  "Declared open, although a notice goes on": "Als offen angegeben, obwohl eine Meldung andauert",
  "A venue's list and its notices may be about different things. Both are shown.":
    "Die Liste eines Anbieters und seine Meldungen können Verschiedenes betreffen. Beides wird gezeigt.",
  "{0}, {1} on {2}: withdrawals are declared open.": "{0}, {1} über {2}: Auszahlungen sind als offen angegeben.",
  "{0}, {1} on {2}: deposits are declared open.": "{0}, {1} über {2}: Einzahlungen sind als offen angegeben.",
  "Withdrawals by venue and asset": "Auszahlungen nach Anbieter und Asset",
  "Networks of an asset whose withdrawals are open, of those that the venue lists":
    "Netze eines Assets mit offenen Auszahlungen, von denen, die der Anbieter aufführt",
  "Nothing is said of assets that a venue does not list.":
    "Zu Assets, die ein Anbieter nicht führt, ist nichts gesagt.",
  "{0} of {1} open": "{0} von {1} offen",
  "{0} unknown": "{0} unbekannt",
  "Of which venues this is not known": "Von welchen Anbietern dies nicht bekannt ist",
  "(last read {0})": "(zuletzt gelesen {0})",
};
