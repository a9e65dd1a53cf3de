/** Why something was reported: a graph of facts and definitions, the values of the guard, the parts in time. */

import { get, post, running, type Cause, type Explained, type Found, type Instant } from "./api";
import { h, outline, s, shortened, show, showAnswer, table, triple } from "./dom";
import { picture, type Edge, type Node } from "./graph";
import { keyOf, millis, parameters } from "./store";

const MOST = 150;

interface Why {
  id: string;
  record: Found;
  text: string;
  /** By event, axioms of T by which the facts may lead to its definition. */
  axioms: Record<string, string[]>;
  /** Facts of K that the guard has found. */
  known: string[];
}

type Shown = Pick<Why, "record" | "text"> & Partial<Why>;

/** What events and states are defined as, by their names; notes their parameters. */
export function definitions(explained: Explained): Map<string, string> {
  for (const one of explained.definitions) parameters.set(one.name, one.parameters);
  return new Map(explained.definitions.map((one) => [one.name, one.text]));
}

let known: Promise<Map<string, string>> | null = null;

/** The definitions of the queries that run. */
export function knownDefinitions(): Promise<Map<string, string>> {
  const all = async () => {
    const found = await Promise.all((await running()).map(({ name }) => post<Explained>("explain", { name })));
    return new Map(found.reverse().flatMap((one) => [...definitions(one)]));
  };
  known ??= all();
  return known;
}

/** Forget what events meant: another query runs. */
export function forgetDefinitions(): void {
  known = null;
}

/** Show the explanation of a record in a panel. */
export async function explain(panel: HTMLElement, id: string): Promise<void> {
  const both = Promise.all([post<Why>("why", { id }), knownDefinitions()]);
  const shown = both.then(([why, defined]) => view(why, defined));
  if (await showAnswer(panel, shown)) read(panel, id);
}

/** The same for a record that is at hand, as those of a trial are. */
export function present(panel: HTMLElement, why: Shown, defined: Map<string, string>): void {
  show(panel, ...view(why, defined));
  read(panel, why.record.id ?? "");
}

/** Let people read the explanation of this record. */
function read(panel: HTMLElement, id: string): void {
  panel.dataset.id = id;
  panel.querySelector("h2")?.focus();
}

function view({ record, text, axioms = {}, known = [] }: Shown, defined: Map<string, string>): Element[] {
  const event = record.alert ?? record.event ?? record.query ?? "";
  const start = record.since ?? record.start ?? record.at ?? "";
  const end = record.until ?? record.end;
  const lasted = end === undefined || end === start ? `at ${start}` : `from ${start} to ${end}`;
  const values = record.bindings ?? record.rows ?? [];
  const causes = record.because ?? [];
  const { nodes, edges } = graphOf(record, event, causes, defined, axioms, known);
  return [
    h("h2", { tabIndex: -1 }, shortened(event), " ", h("small", {}, keyOf(record))),
    h("p", {}, `${record.alert ? `alert, ${record.status}, ` : ""}${lasted}`, record.detected !== undefined && record.detected !== end ? `, decided at ${record.detected}` : ""),
    h("h3", {}, "Because"),
    picture(`Explanation of ${shortened(event)}`, nodes, edges, "RL"),
    h("ul", { class: "legend" }, h("li", { class: "item" }, "fact of an item"), h("li", { class: "known" }, "known fact (K)"), h("li", { class: "axiom" }, "axiom of the ontology (T)"), h("li", { class: "rule" }, "definition"), h("li", { class: "event" }, "occurrence"), record.alert && h("li", { class: "alert" }, "alert")),
    ...(values.length ? [bindings(values)] : []),
    ...(causes.length > 1 || causes[0]?.because ? [h("h3", {}, "Parts in time"), bars(causes)] : []),
    h("details", {}, h("summary", {}, "As text"), h("pre", {}, text || JSON.stringify(record, null, 1)), h("p", {}, h("code", {}, record.id ?? ""))),
  ];
}

/** The values of the variables: what the guard has accepted. */
function bindings(values: Record<string, string>[]): HTMLElement {
  const names = [...new Set(values.flatMap((one) => Object.keys(one)))];
  const rows = values.slice(0, MOST).map((one) => names.map((name) => h("span", { title: one[name] ?? "" }, one[name] === undefined ? "" : shortened(one[name]))));
  return table("Values of the guard's variables", names.map((name) => `?${name}`), rows);
}

function graphOf(record: Found, event: string, causes: Cause[], defined: Map<string, string>, axioms: Record<string, string[]>, known: string[]): { nodes: Node[]; edges: Edge[] } {
  const nodes = new Map<string, Node>();
  const edges: Edge[] = [];
  let number = 0;

  function fact(line: string, seen: Instant | null): string {
    const id = `f ${line} ${seen}`;
    if (!nodes.has(id)) {
      const when = seen === null ? "known" : `seen at ${clock(seen)}`;
      nodes.set(id, { id, kind: seen === null ? "known" : "item", lines: [triple(line), when], title: `${line} (${seen ?? "known"})` });
    }
    return id;
  }

  function ontology(event: string, target: string): void {
    const mine = axioms[event];
    if (!mine) return;
    const id = `t ${event}`;
    const lines = mine.slice(0, 8).flatMap(wrapped);
    if (mine.length > 8) lines.push(`… and ${mine.length - 8} more`);
    nodes.set(id, { id, kind: "axiom", lines: ["By the ontology (T)", ...lines], title: `Axioms of the ontology: ${mine.join("; ")}` });
    edges.push({ from: id, to: target });
  }

  function occurrence(name: string, lines: string[], kind = "event"): string {
    const id = `o ${number++}`;
    const text = defined.get(shortened(name))?.trim() ?? "";
    nodes.set(id, { id, kind, lines: [shortened(name), ...lines], title: [shortened(name), ...lines].join(" ") });
    if (!text) return id;
    const rule = `r ${id}`;
    nodes.set(rule, { id: rule, kind: "rule", lines: shortDefinition(text), title: `${shortened(name)} is ${text}` });
    edges.push({ from: rule, to: id });
    return rule;
  }

  function add(cause: Cause, target: string): void {
    if (nodes.size > MOST) return;
    const lasts = cause.start === cause.end ? `at ${clock(cause.start)}` : `${clock(cause.start)} to ${clock(cause.end)}`;
    const about = cause.individual && !cause.individual.startsWith("urn:obep:") ? [`of ${shortened(cause.individual)}`] : [];
    const mine = occurrence(cause.event, [...about, `${lasts}${cause.moment ? `, its ${cause.moment}` : ""}${cause.context ? ", context" : ""}`]);
    edges.push({ from: mine.startsWith("r ") ? mine.slice(2) : mine, to: target, label: cause.alias });
    below(cause, mine);
  }

  function below(cause: Cause, mine: string): void {
    const parts = cause.because ?? cause.follows_from ?? [];
    for (const part of parts) add(part, mine);
    if (!parts.length) ontology(cause.event, mine);
    if (!parts.length)
      cause.assertions?.forEach((line, place) => {
        if (nodes.size <= MOST) edges.push({ from: fact(line, cause.seen ? (cause.seen[place] ?? null) : cause.end), to: mine });
      });
  }

  const about = keyOf(record);
  const top = occurrence(event, about ? [about] : [], record.alert ? "event alert" : "event");
  const itself = causes.length === 1 && causes[0]?.event === event ? causes[0] : undefined;
  if (itself) below(itself, top);
  else for (const cause of causes) add(cause, top);
  for (const line of known) if (nodes.size <= MOST) edges.push({ from: fact(line, null), to: top });
  if (nodes.size > MOST) nodes.set("more", { id: "more", kind: "rule", lines: ["… and more: see the text"], title: "Not all is drawn" });
  return { nodes: [...nodes.values()], edges };
}

/** The first lines of a definition; a last one says that there are more. */
function shortDefinition(text: string): string[] {
  const lines = text.split("\n").flatMap(wrapped);
  return lines.length > 10 ? [...lines.slice(0, 9), "…"] : lines;
}

/** A long line in several. */
function wrapped(line: string): string[] {
  return line.match(/.{1,28}(?:\s|$)|\S{28,}/g)?.map((one) => one.trimEnd()) ?? [line];
}

/** An instant without its date. */
const clock = (at: Instant): string => String(at).replace(/^\d{4}-\d\d-\d\dT/, "");

/** Each part as a bar between the first and the last instant. */
function bars(causes: Cause[]): SVGSVGElement {
  const rows: { name: string; from: number; to: number; said: string }[] = [];
  const walk = (cause: Cause, depth: number) => {
    if (rows.length >= 40) return;
    const [from, to] = [clock(cause.start), clock(cause.end)];
    const said = from === to ? `at ${from}` : `${from} to ${to}`;
    rows.push({ name: `${" ".repeat(depth * 2)}${cause.alias ?? shortened(cause.event)}`, from: millis(cause.start), to: millis(cause.end), said });
    cause.because?.forEach((part) => walk(part, depth + 1));
  };
  causes.forEach((cause) => walk(cause, 0));
  const first = Math.min(...rows.map((row) => row.from));
  const span = Math.max(...rows.map((row) => row.to)) - first || 1;
  const x = (at: number) => 140 + ((at - first) / span) * 240;
  return s(
    "svg",
    { class: "bars", viewBox: `0 0 560 ${rows.length * 22}`, width: 560, height: rows.length * 22, role: "img", "aria-label": rows.map((row) => `${row.name.trim()} ${row.said}`).join("; ") },
    ...rows.flatMap((row, number) => [
      s("text", { x: 0, y: number * 22 + 15 }, row.name),
      s("rect", { x: x(row.from) - 2, y: number * 22 + 4, width: Math.max(x(row.to) - x(row.from), 0) + 4, height: 14, rx: 2 }),
      s("text", { x: 395, y: number * 22 + 15, class: "more" }, row.said),
    ]),
  );
}

/** The box for `why-not`. */
export function whyNotView(names: () => Promise<string[]>): HTMLElement {
  const answer = h("div", { id: "whynot-answer", "aria-live": "polite" });
  const input = h("input", { id: "whynot", required: true, autocomplete: "off", spellcheck: false, placeholder: "Low(:PenA)", list: "whynot-names" });
  const reply = async () => {
    const found = await post<{ event: string; reported: number; text: string }>("why-not", { event: input.value });
    return [h("p", {}, `${shortened(found.event)} was reported ${found.reported} times.`), h("pre", {}, found.text)];
  };
  const ask = (event: Event) => {
    event.preventDefault();
    void showAnswer(answer, reply());
  };
  const list = h("datalist", { id: "whynot-names" });
  const refresh = async () => show(list, ...(await names().catch(() => [])).map((name) => h("option", { value: shortened(name) })));
  return h(
    "section",
    { onfocusin: refresh },
    h("form", { onsubmit: ask }, h("label", { htmlFor: "whynot" }, "Why did this not occur, or not hold?"), input, list, h("button", {}, "Ask")),
    h("p", { class: "hint" }, "An event or state, perhaps of some individuals. What came nearest among the latest items is shown, with the condition that it did not meet."),
    answer,
  );
}

/** The dead letters and why they were refused. */
export function lettersView(): { element: HTMLElement; load: () => Promise<void> } {
  const list = h("div", { "aria-live": "polite" });
  let next = 0;
  let letters: Record<string, unknown>[] = [];
  const load = async () => {
    for (;;) {
      const lot = await get<{ letters: Record<string, unknown>[]; next: number }>(`dead-letters?since=${next}`);
      letters = [...letters, ...lot.letters].slice(-1000);
      if (!lot.letters.length) break;
      next = lot.next;
    }
    const rows = letters.toReversed().map((one) => [h("code", {}, String(one.code)), String(one.reason ?? ""), String(one.stream ?? ""), outline(one.time ?? ""), h("pre", { class: "raw" }, String(one.raw ?? "").slice(0, 2000))]);
    show(list, rows.length ? table("Records that were refused, latest first", ["Code", "Reason", "Stream", "Time", "Record"], rows) : h("p", {}, "No record was refused."));
  };
  return { element: h("section", {}, list), load };
}
