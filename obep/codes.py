"""Every code that obep can say, with a short title. `docs/errors.md` has a paragraph for each."""

from __future__ import annotations

CODES: dict[str, str] = {
    # 001-099 syntax and files
    "OBEP001": "a word that cannot stand here",
    "OBEP005": "nested too deeply",
    "OBEP006": "not UTF-8",
    "OBEP007": "unknown prefix",
    "OBEP008": "a prefix declared twice",
    "OBEP009": "BASE twice",
    "OBEP010": "a relative IRI without BASE",
    "OBEP011": "a clause twice",
    "OBEP012": "a clause of the other kind of event",
    "OBEP013": "not a duration",
    "OBEP014": "not a number that can be counted to",
    "OBEP015": "not an instant",
    "OBEP016": "not an escape",
    "OBEP019": "triples without their EVENT",
    "OBEP020": "an empty CONSTRUCT",
    "OBEP031": "a file that cannot be read",
    "OBEP032": "a folder instead of a file",
    "OBEP033": "a file outside the query's folder",
    "OBEP034": "files that include each other",
    "OBEP035": "not a file",
    # 100-199 errors of check
    "OBEP192": "a regular expression that cannot be used",
    "OBEP193": "a regular expression whose time cannot be bounded",
    # 200-299 warnings
    "OBEP240": "two equivalent events",
    "OBEP241": "an event runs as a lower bound",
    # 300-399 ontology and reasoning
    "OBEP340": "no Java, and the reasoner is needed",
    "OBEP341": "Java would not start",
    "OBEP342": "the reasoner cannot read the ontology",
    "OBEP343": "the reasoner gave up",
    "OBEP344": "an event that can never happen",
    "OBEP345": "the ontology and the static graph contradict each other",
    "OBEP346": "an event needs the reasoner, and complete answers are required",
    # 400-449 refused: parses, but is not carried out yet
    "OBEP420": "a function whose value changes from run to run",
    "OBEP421": "an aggregate in a FILTER",
    # 500-549 configuration and command line
    "OBEP500": "the configuration cannot be read",
    "OBEP501": "the configuration is not TOML",
    "OBEP502": "unknown setting",
    "OBEP503": "a setting of the wrong kind",
    "OBEP504": "an environment variable that is not set",
    "OBEP505": "a file outside the allowed folders",
    "OBEP506": "unknown mapping",
    "OBEP507": "a source or sink without a URI",
    "OBEP510": "unknown format",
    "OBEP520": "a template of triples that cannot be read",
    "OBEP521": "a conversion of units that cannot be made",
    "OBEP522": "a mapping that cannot be made",
    # 550-599 sources, sinks, run time
    "OBEP551": "a package that is needed is not installed",
    # 600-649 reasons of dead letters
    "OBEP600": "not JSON",
    "OBEP601": "a field of the record is missing or of the wrong kind",
    "OBEP602": "no time",
    "OBEP603": "the time cannot be read",
    "OBEP604": "the graph cannot be read",
    "OBEP605": "too large",
    "OBEP606": "nested too deeply",
    "OBEP607": "a JSON-LD context from the web",
    "OBEP608": "compressed data that is damaged or grows out of proportion",
    "OBEP609": "a field that the mapping needs is missing",
    "OBEP610": "a field does not have the value that the mapping needs",
    "OBEP611": "a unit that the mapping does not know",
    "OBEP612": "a graph goes on after it was complete",
    "OBEP614": "not CSV",
    "OBEP615": "not Parquet",
    # 650-699 Spark
}
