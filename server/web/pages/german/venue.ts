/** Texts of a venue's page. */
export const ofVenue = {
  // venue-chain.tsx
  "Its blocks are read at {0}. If it stands at all of them, it is the fault of none.":
    "Die Blöcke werden bei {0} gelesen. Steht die Chain bei allen still, liegt es an keinem von ihnen.",
  "{0} {1} at all {2} providers that we read; none of them is down for it.":
    "{0} {1} bei allen {2} Anbietern, die wir lesen; keiner von ihnen ist deshalb ausgefallen.",
  "{0} has stood still or gone back since": "{0} steht still oder ging zurück seit",
  "Heads of its providers": "Köpfe bei den Anbietern",
  "Distances are to the freshest head that we knew in this region when we asked, not to the true head of the chain. A provider that is asked later may name a later block.":
    "Abstände gelten zum neuesten Kopf, den wir in dieser Region bei der Abfrage kannten, nicht zum wahren Kopf der Chain. Ein später befragter Anbieter kann einen späteren Block nennen.",
  "How far each is behind is not known.": "Wie weit jeder zurückliegt, ist nicht bekannt.",
  "None trails: each is at the freshest head that we knew.":
    "Keiner liegt zurück: Jeder ist am neuesten Kopf, den wir kannten.",
  "None trails of those whose distance is known.": "Von denen mit bekanntem Abstand liegt keiner zurück.",
  "{0} blocks": { one: "{0} Block", other: "{0} Blöcke" },
  "{1} trail most, by {2}.": {
    one: "{1} liegt am weitesten zurück, um {2}.",
    other: "{1} liegen am weitesten zurück, um {2}.",
  },
  "Heads as named in {0}": "Köpfe, wie sie in {0} genannt wurden",
  Provider: "Anbieter",
  Head: "Kopf",
  Distance: "Abstand",
  Named: "Genannt",
  "not recently": "nicht kürzlich",

  // venue-check.tsx
  "Is it only you?": "Liegt es nur an Ihnen?",
  "This asks {0} once from your machine as our probes do, compares, and names the culprit: the venue, or your place, network, resolver, clock or rate limit.":
    "Dies befragt {0} einmal von Ihrem Rechner aus, wie es unsere Sonden tun, vergleicht und nennt die Ursache: den Anbieter oder Ihren Standort, Ihr Netz, Ihren Namensdienst, Ihre Uhr oder Ihr Anfragelimit.",
  "Command that checks the venue from your machine": "Befehl, der den Anbieter von Ihrem Rechner aus prüft",
  "Copy the command": "Befehl kopieren",
  "A browser can ask as well, as far as {0} lets web pages read its answers.":
    "Auch ein Browser kann fragen, soweit {0} Webseiten seine Antworten lesen lässt.",
  "It sends nothing before you want it, and then at most two requests to each of {0} endpoints at {1}.": {
    one: "Er sendet nichts, bevor Sie es wünschen, und dann höchstens zwei Anfragen an einen Endpunkt bei {1}.",
    other:
      "Er sendet nichts, bevor Sie es wünschen, und dann höchstens zwei Anfragen an jeden von {0} Endpunkten bei {1}.",
  },
  "Check from this browser": "Von diesem Browser aus prüfen",
  Endpoint: "Endpunkt",
  "From this browser": "Von diesem Browser",
  "Our regions": "Unsere Regionen",
  "Check again": "Erneut prüfen",
  "Asking {0} …": "{0} wird befragt …",
  "answered in {0} ms": "hat nach {0} ms geantwortet",
  "answered with status {0}": "hat mit Status {0} geantwortet",
  "limits your requests (status {0})": "begrenzt Ihre Anfragen (Status {0})",
  "refuses your country or address (status {0})": "weist Ihr Land oder Ihre Adresse ab (Status {0})",
  "no answer in {0} s": "keine Antwort in {0} s",
  "is reached, but does not let web pages read its answer":
    "ist erreichbar, lässt Webseiten seine Antwort aber nicht lesen",
  "not reached": "nicht erreicht",
  "typically {0} ms": "üblich sind {0} ms",
  "We cannot tell how our regions see it at the moment.": "Wie unsere Regionen es sehen, wissen wir zurzeit nicht.",
  "{0} answers this browser, and works for our regions. What the answers contain was not checked from here.":
    "{0} antwortet diesem Browser und funktioniert für unsere Regionen. Was in den Antworten steht, wurde von hier aus nicht geprüft.",
  "{0} answers this browser at this moment, although our regions see trouble. What the answers contain was not checked from here.":
    "{0} antwortet diesem Browser in diesem Moment, obwohl unsere Regionen eine Störung sehen. Was in den Antworten steht, wurde von hier aus nicht geprüft.",
  "{0} answers this browser, but our regions see trouble that a browser does not see: {1}.":
    "{0} antwortet diesem Browser, aber unsere Regionen sehen eine Störung, die ein Browser nicht sieht: {1}.",
  "{0} limits your requests, which is no outage: wait before you check again.":
    "{0} begrenzt Ihre Anfragen, was kein Ausfall ist: Warten Sie, bevor Sie erneut prüfen.",
  "Our regions see trouble, too; the table has it.":
    "Auch unsere Regionen sehen eine Störung; sie steht in der Tabelle.",
  "It fails from this browser while our regions see it work: your network, country, address, or an extension of the browser is the likelier cause. The command above names it.":
    "Von diesem Browser aus schlägt es fehl, von unseren Regionen aus funktioniert es: Wahrscheinlicher sind Ihr Netz, Ihr Land, Ihre Adresse oder eine Erweiterung des Browsers die Ursache. Der Befehl oben nennt sie.",
  "It fails from this browser, as it does from our regions: it is not just you.":
    "Von diesem Browser aus schlägt es fehl, ebenso von unseren Regionen aus: Es liegt nicht nur an Ihnen.",
  "Some of what fails from this browser fails for our regions, too, and some works for them. So there may be trouble on your side as well: the command above names it.":
    "Ein Teil dessen, was von diesem Browser aus fehlschlägt, schlägt auch für unsere Regionen fehl, ein anderer funktioniert dort. Auch auf Ihrer Seite kann also eine Störung liegen: Der Befehl oben nennt sie.",
  "{0} of {1} endpoints failed from this browser.": "Von diesem Browser aus ohne gute Antwort: {0} von {1} Endpunkten.",
  "Our regions see no trouble there; the command above names the cause.":
    "Unsere Regionen sehen dort keine Störung; der Befehl oben nennt die Ursache.",
  "Our regions see trouble there, too: it is not just you.":
    "Auch unsere Regionen sehen dort eine Störung: Es liegt nicht nur an Ihnen.",
  "Our regions see trouble in some of them, too; the command above tells what is on your side.":
    "Bei einem Teil davon sehen auch unsere Regionen eine Störung; der Befehl oben sagt, was auf Ihrer Seite liegt.",
  "{0} answers this browser. What the answers contain was not checked from here.":
    "{0} antwortet diesem Browser. Was in den Antworten steht, wurde von hier aus nicht geprüft.",
  "It fails from this browser.": "Von diesem Browser aus schlägt es fehl.",
  "This browser reaches {0}, which does not let web pages read its answers. So it cannot tell whether they are good; the command above can.":
    "Dieser Browser erreicht {0}, darf als Webseite die Antworten aber nicht lesen. Ob sie richtig sind, kann er nicht sagen; der Befehl oben kann es.",
  "This browser is offline.": "Dieser Browser ist offline.",

  // venue-entry.tsx
  "Nothing has been measured since {0}, and it is no longer on the board. What was measured before stays here.":
    "Seit {0} wird nichts mehr gemessen, und der Anbieter steht nicht mehr in der Übersicht. Was davor gemessen wurde, bleibt hier.",
  "from a rate counted by hand": "aus einer von Hand gezählten Rate",
  "from an estimated rate": "aus einer geschätzten Rate",
  "How we measure it": "Wie wir messen",
  "Our entry for it": "Unser Eintrag",
  "It ends": "Er endet",
  "The venue itself ends": "Der Anbieter selbst endet",
  "The venue itself ended": "Der Anbieter selbst endete",
  "Its limits": "Seine Limits",
  "It does not serve": "Nicht bedient werden",
  "{0}: from there it refuses our requests, and that says nothing about it":
    "{0}: Von dort aus weist er unsere Anfragen ab; über ihn sagt das nichts",
  "Edge cache": "Edge-Cache",
  "An edge in front of it answers for up to {0}: a shorter outage behind it is invisible.":
    "Ein Edge-Server davor antwortet bis zu {0} lang: Ein kürzerer Ausfall dahinter ist unsichtbar.",
  "when it was last compared with the venue's documentation is not on record":
    "wann er zuletzt mit der Dokumentation des Anbieters verglichen wurde, ist nicht verzeichnet",
  "last compared with its documentation on {0}:": "zuletzt mit der Dokumentation verglichen am {0}:",
  "none is on record": "keines ist verzeichnet",
  "All requests of our probes on one address stay below half of each limit by address:":
    "Alle Anfragen unserer Sonden von einer Adresse bleiben unter der Hälfte jedes Limits je Adresse:",
  "{0} requests in {1} from one address, at {2}": {
    one: "{0} Anfrage in {1} von einer Adresse, bei {2}",
    other: "{0} Anfragen in {1} von einer Adresse, bei {2}",
  },
  "{0} requests in {1} of one account, at {2}": {
    one: "{0} Anfrage in {1} eines Kontos, bei {2}",
    other: "{0} Anfragen in {1} eines Kontos, bei {2}",
  },
  source: "Quelle",
  "read at {0}": "gelesen bei {0}",
  "no provider has a new block for more than {0}": "kein Anbieter hat seit mehr als {0} einen neuen Block",
  "no full answer within {0}": "keine vollständige Antwort innerhalb von {0}",
  "it cannot be opened, or is closed, or answers no ping": "nicht zu öffnen, geschlossen oder ohne Antwort auf Ping",
  "silent for more than {0} ({1})": "länger als {0} verstummt ({1})",
  "(only {0})": "(nur {0})",
  "its data are more than {0} old": "die Daten sind älter als {0}",
  "How each component is measured, from every region": "Wie jede Komponente aus jeder Region gemessen wird",
  Component: "Komponente",
  Address: "Adresse",
  Every: "Takt",
  "Bad if": "Schlecht, wenn",

  // venue-history.tsx
  "The venue": "Der Anbieter",
  "All REST endpoints": "Alle REST-Endpunkte",
  "All streams": "Alle Streams",
  "Uptime over ninety days": "Verfügbarkeit über neunzig Tage",
  "Uptime is the share of measured minutes without an outage. The bounds give the uptime of all scheduled minutes as if every unmeasured minute had been down, and as if none had.":
    "Die Verfügbarkeit ist der Anteil der gemessenen Minuten ohne Ausfall. Die Grenzen geben die Verfügbarkeit aller geplanten Minuten an, als wäre jede nicht gemessene Minute ein Ausfall gewesen, und als wäre es keine gewesen.",
  "How it is computed": "Wie sie berechnet wird",
  "{0} to {1}": "{0} bis {1}",
  "Ninety days": "Neunzig Tage",
  "The ninety days as a table": "Die neunzig Tage als Tabelle",
  "{0} periods are left out of every uptime": {
    one: "{0} Zeitraum zählt in keiner Verfügbarkeit",
    other: "{0} Zeiträume zählen in keiner Verfügbarkeit",
  },
  "In these minutes a region had trouble of its own. They count against no venue.":
    "In diesen Minuten hatte eine Region selbst eine Störung. Sie zählen gegen keinen Anbieter.",
  "{0}: {1} from {2} ({3})": "{0}: {1} ab {2} ({3})",
  "Time to a full answer of all REST endpoints, minute by minute, seen from {0}.":
    "Zeit bis zur vollständigen Antwort aller REST-Endpunkte, Minute für Minute, gesehen von {0}.",
  "Time to a full answer of all REST endpoints, hour by hour, seen from {0}.":
    "Zeit bis zur vollständigen Antwort aller REST-Endpunkte, Stunde für Stunde, gesehen von {0}.",
  Latency: "Latenz",
  "Latency as a table": "Latenz als Tabelle",
  "No latency was measured from this region in this range.":
    "Aus dieser Region wurde in diesem Zeitraum keine Latenz gemessen.",
  Median: "Median",
  "95th percentile": "95. Perzentil",
  "too little measured": "zu wenig gemessen",
  "Zoom into this chart": "In dieses Diagramm zoomen",
  "Drag over a part of the chart to zoom in. Double-click to see all of it.":
    "Ziehen Sie über einen Teil des Diagramms, um hineinzuzoomen. Ein Doppelklick zeigt wieder alles.",
  "Back to the plain chart": "Zurück zum einfachen Diagramm",
  "The chart could not be loaded. Try again": "Das Diagramm konnte nicht geladen werden. Erneut versuchen",
  "Latency over {0}, seen from {1}: the median is between {2} and {3}.":
    "Latenz über {0}, gesehen von {1}: Der Median liegt zwischen {2} und {3}.",
  "Latency over {0}, seen from {1}: the median is between {2} and {3}, the 95th percentile at most {4}.":
    "Latenz über {0}, gesehen von {1}: Der Median liegt zwischen {2} und {3}, das 95. Perzentil bei höchstens {4}.",
  "{0} of {1} points have too few answers.": "{0} von {1} Punkten haben zu wenige Antworten.",
  "Uptime of the venue and its parts": "Verfügbarkeit des Anbieters und seiner Teile",
  "Days with trouble, newest first:": "Tage mit Störungen, die neuesten zuerst:",
  "{0} more in the table": "{0} weitere in der Tabelle",
  What: "Was",
  "see below": "siehe unten",
  Uptime: "Verfügbarkeit",
  Bounds: "Grenzen",
  Measured: "Gemessen",
  "Degraded by failures": "Durch Fehler gestört",
  "Uptime by day (UTC), newest first": "Verfügbarkeit nach Tagen (UTC), neueste zuerst",
  Day: "Tag",
  "{0} incidents": { one: "{0} Vorfall", other: "{0} Vorfälle" },
  "Latency hour by hour": "Latenz Stunde für Stunde",
  Answers: "Antworten",
  "Hour from": "Stunde ab",
  "Latency by hour: its lowest and highest minute": "Latenz nach Stunden: niedrigste und höchste Minute",
  "Minutes measured": "Gemessene Minuten",
  "Lowest median": "Niedrigster Median",
  "Highest median": "Höchster Median",
  "Highest 95th percentile": "Höchstes 95. Perzentil",

  // venue-measurements.tsx
  "not decided: our engine is silent": "nicht entschieden: unsere Auswertung schweigt",
  "not counted: region impaired": "zählt nicht: Region beeinträchtigt",
  "not counted: the venue refuses this place, which is no outage unless a second place confirms it":
    "zählt nicht: der Anbieter weist diesen Standort ab, was ohne einen zweiten Standort kein Ausfall ist",
  "not counted: it sends nothing": "zählt nicht: sie sendet nichts",
  "What each region sees now": "Was jede Region jetzt sieht",
  "No component of this venue is measured.": "Von diesem Anbieter wird keine Komponente gemessen.",
  "All {0} components are healthy in every region": "Alle {0} Komponenten sind in jeder Region störungsfrei",
  "{0} more components are not healthy in some region": {
    one: "{0} weitere Komponente ist in mancher Region nicht störungsfrei",
    other: "{0} weitere Komponenten sind in mancher Region nicht störungsfrei",
  },
  "More components that are not healthy in some region":
    "Weitere Komponenten, die in mancher Region nicht störungsfrei sind",
  "{0} more components are healthy in every region": {
    one: "{0} weitere Komponente ist in jeder Region störungsfrei",
    other: "{0} weitere Komponenten sind in jeder Region störungsfrei",
  },
  "Regions vote. A component is degraded or down once a quorum of those that count agrees. A region is impaired while most venues fail there at once and nowhere else.":
    "Regionen stimmen ab. Eine Komponente gilt als gestört oder ausgefallen, sobald ein Quorum der zählenden Regionen übereinstimmt. Eine Region ist beeinträchtigt, solange dort die meisten Anbieter zugleich ausfallen und sonst nirgends.",
  "{0} of {1} failed": "{0} von {1} fehlgeschlagen",
  "{0} of {1} slow": "{0} von {1} langsam",
  "too few samples to say": "zu wenige Messungen für ein Urteil",
  "not counted: its newest sample is {0} old": "zählt nicht: ihre neueste Messung ist {0} alt",
  "REST endpoints": "REST-Endpunkte",
  "none seen in a day": "seit einem Tag keines gesehen",
  "expired {0}": "abgelaufen am {0}",
  "expires {0}, in {1}": "läuft am {0} ab, in {1}",
  "names no head": "nennt keinen Kopf",
  "distance unknown": "Abstand unbekannt",
  "at the freshest head": "am neuesten Kopf",
  "{0} blocks behind": { one: "{0} Block zurück", other: "{0} Blöcke zurück" },
  "{1}, went backwards {0} times in 24 hours": {
    one: "{1}, in 24 Stunden {0}-mal zurückgesprungen",
    other: "{1}, in 24 Stunden {0}-mal zurückgesprungen",
  },
  Streams: "Streams",
  "{0}; a stall after {1}": "{0}; als verstummt gilt er nach {1}",
  "its clock is {0} ahead": "die Uhr des Anbieters geht {0} vor",
  "Regions compared": "Regionen im Vergleich",
  "This is what each region alone sees. No decision rests on one region while several are published.":
    "Dies sieht jede Region für sich. Solange mehrere veröffentlicht sind, beruht keine Entscheidung auf einer allein.",
  "no: it is impaired": "nein: sie ist beeinträchtigt",
  "yes, it reports": "ja, sie berichtet",
  "no: it sends nothing": "nein: sie sendet nichts",
  "no: its newest sample is {0} old": "nein: ihre neueste Messung ist {0} alt",
  "Time by which a component is judged": "Zeitraum, nach dem eine Komponente beurteilt wird",
  "Fewest samples for a verdict": "Mindestzahl der Messungen für ein Urteil",
  "Share of failed samples that makes it degraded": "Anteil fehlgeschlagener Messungen, ab dem sie gestört ist",
  "Share of failed samples that makes it down": "Anteil fehlgeschlagener Messungen, ab dem sie ausgefallen ist",
  "An answer is slow at this multiple of its typical latency":
    "Eine Antwort ist langsam ab diesem Vielfachen ihrer üblichen Latenz",
  "And at least this much above it": "und mindestens so viel darüber",
  "Bad samples in a row that confirm trouble": "Schlechte Messungen in Folge, die eine Störung bestätigen",
  "Fewest regions that must agree": "Mindestzahl der Regionen, die übereinstimmen müssen",
  "Healthy time after which an incident closes": "Störungsfreie Zeit, nach der ein Vorfall geschlossen wird",
  "Age from which events of a stream are too old": "Alter, ab dem Ereignisse eines Streams zu alt sind",
  "The thresholds that apply": "Die geltenden Grenzwerte",
  "A slow component has longer windows. All rules and their reasons: {0}, {1}":
    "Für eine langsame Komponente gelten längere Zeiträume. Alle Regeln und ihre Begründung: {0}, {1}",
  "the rule book": "das Regelbuch",
  "every threshold as JSON": "alle Grenzwerte als JSON",
  "the rules in short": "die Regeln in Kürze",
  "not counted: it fails only here, and has for long (blocked?)":
    "zählt nicht: nur hier schlägt es fehl, und das seit Langem (gesperrt?)",
  "Components by region": "Komponenten nach Region",
  "Components that are healthy in every region": "Komponenten, die in jeder Region störungsfrei sind",
  "All regions together": "Alle Regionen zusammen",
  "last error: {0}": "letzter Fehler: {0}",
  "Endpoints as seen from {0}": "Endpunkte, gesehen von {0}",
  "{0} from {1}, not measured": "{0} von {1}, nicht gemessen",
  "{0} from {1}, median {2}": "{0} von {1}, Median {2}",
  "{0} from {1}, medians of {2} to {3}": "{0} von {1}, Mediane von {2} bis {3}",
  "{0} from {1}": "{0} von {1}",
  "over {0}": "über {0}",
  "Seen from here": "Von hier gesehen",
  "Good samples": "Gute Messungen",
  Certificate: "Zertifikat",
  "Chain head": "Kopf der Chain",
  "Streams as heard from {0}": "Streams, empfangen in {0}",
  Stream: "Stream",
  "Messages per minute": "Nachrichten pro Minute",
  "The connection that the streams share. It carries no messages of its own.":
    "Die Verbindung, die die Streams gemeinsam nutzen. Sie trägt selbst keine Nachrichten.",
  "Longest silence": "Längste Pause",
  "Age of newest event": "Alter des neuesten Ereignisses",
  "Gaps in numbering": "Lücken in der Nummerierung",
  "not numbered": "nicht nummeriert",
  "The venue from each region, over {0}": "Der Anbieter aus Sicht jeder Region, über {0}",
  "Sees now": "Sieht jetzt",
  "Does it count?": "Zählt sie?",
  "Greatest age of the newest sample of a region that votes":
    "Höchstes Alter der neuesten Messung einer stimmberechtigten Region",
  "When a region that alone sees trouble loses its vote":
    "Wann eine Region, die allein eine Störung sieht, ihre Stimme verliert",
  "How samples become a verdict": "Wie aus Messungen ein Urteil wird",
  Rule: "Regel",
  Value: "Wert",
  "{0} samples": { one: "{0} Messung", other: "{0} Messungen" },
  "{0} times": { one: "{0}-mal", other: "{0}-mal" },

  // venue-transfers.tsx
  "Deposits and withdrawals": "Ein- und Auszahlungen",
  "Its list was not read yet": "Die Liste wurde noch nicht gelesen",
  "As {0} declares them in its own list; we do not measure this.":
    "Wie {0} sie in der eigenen Liste angibt; wir messen dies nicht.",
  "The newest reading had a problem: {0}.": "Die neueste Lesung hatte ein Problem: {0}.",
  "Its newest pauses within ninety days ({0})": "Die neuesten Unterbrechungen innerhalb von neunzig Tagen ({0})",
  "all networks": "alle Netze",
  "{0} (its own name)": "{0} (eigene Bezeichnung)",
  "not known": "nicht bekannt",
  "{0} of {1}": "{0} von {1}",
  open: "offen",
  paused: "ausgesetzt",
  "Open, by asset and network": "Offen, nach Asset und Netz",
  "Not open, by asset and network": "Nicht offen, nach Asset und Netz",
  "All {0} lines are open, for deposits and withdrawals": "Alle {0} Zeilen sind offen, für Ein- und Auszahlungen",
  "More lines that are not open": "Weitere Zeilen, die nicht offen sind",
  "{0} more lines are not open": {
    one: "{0} weitere Zeile ist nicht offen",
    other: "{0} weitere Zeilen sind nicht offen",
  },
  "{0} more lines are open": { one: "{0} weitere Zeile ist offen", other: "{0} weitere Zeilen sind offen" },
  "Its newest notices ({0})": "Ihre neuesten Meldungen ({0})",
  "as its documentation said on {0}": "wie ihre Dokumentation am {0} sagte",
  Asset: "Asset",
  Network: "Netz",
  Withdrawals: "Auszahlungen",
  Deposits: "Einzahlungen",
  "Pauses, those that last first": "Unterbrechungen, andauernde zuerst",
  From: "Von",
  To: "Bis",
  "it lasts": "dauert an",
  "In the venue's words": "In den Worten des Anbieters",
  "deposits of {0}": "Einzahlungen von {0}",
  "deposits of {0} on {1}": "Einzahlungen von {0} über {1}",
  "withdrawals of {0}": "Auszahlungen von {0}",
  "withdrawals of {0} on {1}": "Auszahlungen von {0} über {1}",
  "{0} paused in 90 days": "{0}: ausgesetzt in 90 Tagen",

  // venue.tsx
  "{0} ended on {1}.": "{0} endete am {1}.",
  "See also: {0}.": "Siehe auch: {0}.",
  "Measured with {0}.": "Gemessen mit {0}.",
  "An answer typically takes {0}.": "Eine Antwort dauert üblicherweise {0}.",
  "The figures below the matrix are of {0}.": "Die Zahlen unter der Matrix sind von {0}.",
  "We do not know whether {0} works: we have never seen it good from here.":
    "Wir wissen nicht, ob {0} funktioniert: Von hier aus haben wir noch nie eine fehlerfreie Antwort gesehen.",
  "We do not know whether {0} works. Its service {1}.":
    "Wir wissen nicht, ob {0} funktioniert. Der Dienst ist eingestellt ({1}).",
  "We do not know whether {0} works: it refuses the place that we measure from.":
    "Wir wissen nicht, ob {0} funktioniert: Der Standort, von dem aus wir messen, wird abgewiesen.",
  "{0} is healthy again. The incident of {1} closes once this has lasted.":
    "{0} arbeitet wieder störungsfrei. Der Vorfall zu {1} wird geschlossen, wenn dies lange genug anhält.",
  "We do not know whether {0} works: our own engine decides nothing at present.":
    "Wir wissen nicht, ob {0} funktioniert: Unsere eigene Auswertung entscheidet zurzeit nichts.",
  "We do not know whether {0} works: fewer than half of its components are known.":
    "Wir wissen nicht, ob {0} funktioniert: Weniger als die Hälfte der Komponenten ist bekannt.",
  "{0} is healthy {1}": "{0} arbeitet störungsfrei {1}",
  "{1}; {2} do not count.": { one: "{1}; {2} zählt nicht.", other: "{1}; {2} zählen nicht." },
  "Choose region and range": "Region und Zeitraum wählen",
  "Seen from": "Gesehen von",
  "Over the last": "Zeitraum",
  "No incident of this venue is on record.": "Zu diesem Anbieter ist kein Vorfall verzeichnet.",
  "All incidents of {0}": "Alle Vorfälle von {0}",
  "When incidents recur": "Wann Vorfälle wiederkehren",
  "on Mondays": "montags",
  "on Tuesdays": "dienstags",
  "on Wednesdays": "mittwochs",
  "on Thursdays": "donnerstags",
  "on Fridays": "freitags",
  "on Saturdays": "samstags",
  "on Sundays": "sonntags",
  "In ninety days {0} incidents lasted {1} together.": {
    one: "In neunzig Tagen dauerte {0} Vorfall {1}.",
    other: "In neunzig Tagen dauerten {0} Vorfälle zusammen {1}.",
  },
  "{0} down: {1}.": "{0} ausgefallen: {1}.",
  "{0} degraded: {1}.": "{0} gestört: {1}.",
  "{0} (UTC)": "{0} (UTC)",
  "between {0} and {1} UTC": "zwischen {0} und {1} UTC",
  "{0} between {1} and {2} UTC": "{0} zwischen {1} und {2} UTC",
  "{1} of {2} incidents began {3}, on {0} days": {
    one: "{1} von {2} Vorfällen begannen {3}, an {0} Tag",
    other: "{1} von {2} Vorfällen begannen {3}, an {0} Tagen",
  },
  "What {0} itself says": "Was {0} selbst sagt",
  "Its status page": "Zur Statusseite",
  "All venues compared": "Alle Anbieter im Vergleich",
  "Last read: {0}.": "Zuletzt gelesen: {0}.",
  "It has no status feed that a program can read, so its silence means nothing.":
    "Einen Status-Feed, den ein Programm lesen kann, gibt es nicht; Schweigen bedeutet deshalb nichts.",
  "we do not know why": "warum, wissen wir nicht",
  "Its status feed cannot be read: {0}. Its silence means nothing now.":
    "Der Status-Feed ist nicht lesbar: {0}. Schweigen bedeutet zurzeit nichts.",
  "Its status feed can be read.": "Der Status-Feed ist lesbar.",
  "Its status feed can be read, but announces only maintenance. Its silence about outages means nothing.":
    "Der Status-Feed ist lesbar, kündigt aber nur Wartungen an. Schweigen über Ausfälle bedeutet nichts.",
  "Compared on {0} of {1} days.": "Verglichen an {0} von {1} Tagen.",
  "We were first by {0} (median).": "Wir waren um {0} früher (Median).",
  "The venue was first by {0} (median).": "Der Anbieter war um {0} früher (Median).",
  "Only their times are compared: nothing tests that they are about the same fault.":
    "Verglichen werden nur die Zeiten: Ob es um denselben Fehler geht, ist nicht geprüft.",
  "We cannot compare our incidents with its notices, since it has no feed.":
    "Unsere Vorfälle lassen sich nicht mit Meldungen vergleichen, weil es keinen Feed gibt.",
  "We do not compare maintenance with our incidents.": "Wartungen vergleichen wir nicht mit unseren Vorfällen.",
  "Our incidents are not compared with its notices yet: a comparison needs six hours before and after, measured and read.":
    "Unsere Vorfälle sind noch nicht mit den Meldungen verglichen: Dazu müssen sechs Stunden davor und danach gemessen und gelesen sein.",
  "{0} have a notice each": { one: "{0} mit einer Meldung", other: "{0} mit je einer Meldung" },
  "{0} notices of the venue": { one: "{0} Meldung des Anbieters", other: "{0} Meldungen des Anbieters" },
  "{0} have an incident each": { one: "{0} mit einem Vorfall", other: "{0} mit je einem Vorfall" },
  "{0} share one with another": { one: "{0} gemeinsam mit anderen", other: "{0} gemeinsam mit anderen" },
  "{0} have none": { one: "{0} ohne Gegenstück", other: "{0} ohne Gegenstück" },
  "Of {0}, {1}, {2}, and {3}.": "{0}: {1}, {2}, {3}.",
  "Its notices, newest first": "Meldungen des Anbieters, neueste zuerst",
  Notice: "Meldung",
  "Kind and status": "Art und Status",
  Began: "Begann",
  Published: "Veröffentlicht",
  Over: "Vorbei",
  "not yet": "noch nicht",
  "Ours beside it": "Unser Vorfall dazu",
  "the venue has removed it": "der Anbieter hat sie entfernt",
  "its times are not plausible": "ihre Zeiten sind nicht plausibel",
  "our incident": "unser Vorfall",
  "our {0} incidents": { one: "Unser {0} Vorfall", other: "Unsere {0} Vorfälle" },
};
