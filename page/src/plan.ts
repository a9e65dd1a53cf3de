/** The plan of the query that runs as a picture, with what each part holds now. */

import { get, post } from "./api";
import { h, show } from "./dom";
import { picture, type Edge, type Node } from "./graph";

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

/** The nodes and edges of the flowchart that `explain` writes (Mermaid, as obep/plan/query_picture.py does). */
export function chart(mermaid: string): { nodes: Map<string, { text: string; kind: string }>; edges: Edge[] } {
  const nodes = new Map<string, { text: string; kind: string }>();
  const edges: Edge[] = [];
  const kinds: [string, string][] = [["[/", "item"], ["([", "event"], ["[[", "event"], ["{{", "rule"], ["[(", "event"]];
  for (const line of mermaid.split("\n")) {
    const found = /^ {2}(\w+)(?:([[({]+\/?)"(.*?)"[\])}/]+)?(?: -- "(.*)" -->| -->)? ?(\w+)?$/.exec(line);
    if (!found) continue;
    const [, id, bracket, text, label, to] = found;
    if (bracket) nodes.set(id!, { text: plain(text ?? ""), kind: kinds.find(([one]) => one === bracket)?.[1] ?? "event" });
    if (to) edges.push({ from: id!, to, label: label && plain(label) });
  }
  return { nodes, edges };
}

const plain = (text: string): string => text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

export function planView(): { element: HTMLElement; load: () => Promise<void>; forget: () => void } {
  const facts = h("dl", { class: "facts", id: "plan-facts" });
  const drawing = h("div", { id: "plan" });
  const details = h("pre", { id: "plan-operators", "aria-live": "polite" });
  let drawn: { mermaid: string } | null = null;
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
    drawn ??= await post<{ mermaid: string }>("explain", {});
    const [plan, { streams }] = await Promise.all([get<Plan>("plan"), get<{ streams: { name: string; items: number }[] }>("streams")]);
    held = plan.events;
    const now = JSON.stringify([plan, streams]);
    if (now === before) return;
    before = now;
    const holding = plan.holding.join(", ") || "no stream";
    const shown: [string, unknown][] = [["Watermark", plan.watermark ?? "none yet"], ["Held back by", holding], ["Items that wait for it", plan.waiting], ["In the queue", plan.queue], ["Remembered", plan.remembered], ["Deadlines ahead", plan.pending]];
    show(facts, ...shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value)))));
    const { nodes, edges } = chart(drawn.mermaid);
    const boxes: Node[] = [...nodes].map(([id, { text, kind }]) => {
      const stream = kind === "item" ? streams.find((one) => one.name === text) : undefined;
      const one = kind === "event" ? plan.events.find((other) => other.name === text) : undefined;
      const lines = [text];
      if (stream) lines.push(`${stream.items} items${plan.holding.includes(text) ? ", holds the watermark" : ""}`);
      if (one) lines.push(`${one.held} held, ${one.reported} reported`);
      return { id, kind, lines, title: lines.join(": "), open: kind === "event" ? () => describe(text) : undefined };
    });
    for (const one of plan.events)
      if (![...nodes.values()].some((node) => node.text === one.name)) boxes.push({ id: `held ${one.event}`, kind: "event", lines: [one.event.startsWith("GRAPH ") ? `window ${one.name}` : one.name, `${one.held} held, ${one.reported} reported`], title: one.name, open: () => describe(one.name) });
    const focused = (document.activeElement as SVGElement | null)?.dataset?.id;
    const [left, top] = [drawing.firstElementChild?.scrollLeft ?? 0, drawing.firstElementChild?.scrollTop ?? 0];
    show(drawing, picture("Plan of the query", boxes, edges, "LR"));
    drawing.firstElementChild?.scrollTo(left, top);
    for (const node of drawing.querySelectorAll<SVGElement>("[data-id]")) if (focused && node.dataset.id === focused) node.focus();
    if (chosen) describe(chosen);
  }

  const forget = () => {
    drawn = null;
    before = "";
  };
  return { element: h("section", {}, facts, drawing, h("h3", {}, "What it holds"), details), load, forget };
}
