/** The plan of a query that runs as a picture, with what each part holds now. */

import { get, post, running, type Explained } from "./api";
import { h, show } from "./dom";
import { picture, type Node } from "./graph";

interface Held {
  event: string;
  name: string;
  held: number;
  pending: number;
  reported: number;
  operators: { operator: string; held: number }[];
}

interface Plan {
  watermark: string | number | null;
  holding: string[];
  waiting: number;
  queue: number;
  remembered: number;
  pending: number;
  events: Held[];
}

/** The kinds of a flowchart's nodes as the style sheet knows them. */
const KINDS: Record<string, string> = { stream: "item", window: "window", operator: "rule" };

export function planView(): { element: HTMLElement; load: () => Promise<void>; forget: () => void } {
  const facts = h("dl", { class: "facts", id: "plan-facts" });
  const drawing = h("div", { id: "plan" });
  const details = h("pre", { id: "plan-operators", "aria-live": "polite" });
  const choice = h("select", { id: "plan-query", onchange: () => (forget(), void load()) });
  let drawn: Explained | null = null;
  let before = "";
  let chosen = "";
  let held: Held[] = [];

  function describe(name: string): void {
    chosen = name;
    const one = held.find((other) => other.name === name);
    if (!one) return show(details, `${name} holds nothing of its own: it is decided by each item.`);
    const operators = one.operators.map((other) => `  ${other.operator}: ${other.held}`);
    show(details, [`${name}: ${one.held} held, ${one.pending} deadlines ahead, ${one.reported} reported`, ...operators].join("\n"));
  }

  async function load(): Promise<void> {
    const names = (await running()).map((one) => one.name);
    if (names.join("\n") !== [...choice.options].map((one) => one.value).join("\n")) {
      const before = choice.value;
      show(choice, ...names.map((name) => h("option", { value: name }, name)));
      if (names.includes(before)) choice.value = before;
      else forget();
    }
    const name = choice.value;
    const explained = drawn ?? (await post<Explained>("explain", { name }));
    const [plan, { streams }] = await Promise.all([get<Plan>(`plan?query=${encodeURIComponent(name)}`), get<{ streams: { name: string; items: number }[] }>("streams")]);
    if (choice.value !== name) return; // another query was chosen meanwhile
    drawn = explained;
    held = plan.events;
    const now = JSON.stringify([plan, streams]);
    if (now === before) return;
    before = now;
    const holding = plan.holding.join(", ") || "no stream";
    const shown: [string, unknown][] = [["Watermark", plan.watermark ?? "none yet"], ["Held back by", holding], ["Items that wait for it", plan.waiting], ["In the queue", plan.queue], ["Remembered", plan.remembered], ["Deadlines ahead", plan.pending]];
    show(facts, ...shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value)))));
    const { nodes, edges } = drawn.graph;
    const boxes: Node[] = nodes.map(({ id, kind, text }) => {
      const named = !(kind in KINDS);
      const stream = kind === "stream" ? streams.find((one) => one.name === text) : undefined;
      const one = plan.events.find((other) => (kind === "window" ? text.startsWith(`${other.name} `) && other.event.startsWith("GRAPH ") : named && other.name === text));
      const lines = [text];
      if (kind === "window") lines.unshift("window");
      if (stream) lines.push(`${stream.items} items${plan.holding.includes(text) ? ", holds the watermark" : ""}`);
      if (one) lines.push(kind === "window" ? `${one.held} held` : `${one.held} held, ${one.reported} reported`);
      return { id, kind: KINDS[kind] ?? "event", lines, title: lines.join(": "), open: named ? () => describe(text) : undefined };
    });
    const focused = (document.activeElement as SVGElement | null)?.dataset?.id;
    const [left, top] = [drawing.firstElementChild?.scrollLeft ?? 0, drawing.firstElementChild?.scrollTop ?? 0];
    show(drawing, picture("Plan of the query", boxes, edges.map((one) => ({ from: one.source, to: one.target, label: one.text })), "LR"));
    drawing.firstElementChild?.scrollTo(left, top);
    for (const node of drawing.querySelectorAll<SVGElement>("[data-id]")) if (focused && node.dataset.id === focused) node.focus();
    if (chosen) describe(chosen);
  }

  const forget = () => {
    drawn = null;
    before = "";
  };
  return { element: h("section", {}, h("div", { class: "bar" }, h("label", {}, "Query ", choice)), facts, drawing, h("h3", {}, "What it holds"), details), load, forget };
}
