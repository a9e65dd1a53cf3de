/** A directed graph as SVG, laid out in layers by dagre. Nodes can be reached by keyboard. */

import { graphlib, layout } from "@dagrejs/dagre";
import { h, s } from "./dom";

export interface Node {
  id: string;
  /** A class of the style sheet: `item`, `known`, `rule`, `event`, … */
  kind: string;
  lines: string[];
  /** All of it, for the pointer and for screen readers. */
  title: string;
  open?: () => void;
}

export interface Edge {
  from: string;
  to: string;
  label?: string;
}

const LINE = 16;
const LONGEST = 44;

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

/** The picture of a graph, with a name for who cannot see it. */
export function picture(label: string, nodes: Node[], edges: Edge[], towards: "LR" | "RL"): HTMLElement {
  const graph = new graphlib.Graph();
  graph.setGraph({ rankdir: towards, nodesep: 12, ranksep: 28, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(nodes.map((node) => node.id));
  for (const node of nodes) {
    const letters = Math.max(...node.lines.map((line) => cut(line).length), 3);
    graph.setNode(node.id, { width: letters * 7.1 + 18, height: node.lines.length * LINE + 10 });
  }
  for (const edge of edges) if (known.has(edge.from) && known.has(edge.to)) graph.setEdge(edge.from, edge.to);
  layout(graph);
  const size = extent(graph);
  const svg = s("svg", { role: "group", "aria-label": label, viewBox: `${size.left} ${size.top} ${size.width} ${size.height}` });
  // As wide as its place, but never so small that it cannot be read, nor greater than it is.
  svg.style.minWidth = `${size.width * 0.65}px`;
  svg.style.maxWidth = `${size.width}px`;
  svg.append(s("defs", {}, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { d: "M0 0L8 4L0 8z" }))));
  for (const edge of edges) {
    const points = known.has(edge.from) && known.has(edge.to) ? (graph.edge(edge.from, edge.to) as { points?: { x: number; y: number }[] }).points : undefined;
    if (!points) continue;
    svg.append(s("path", { class: "edge", d: `M${points.map((point) => `${point.x} ${point.y}`).join("L")}`, "marker-end": "url(#arrow)" }, s("title", {}, edge.label ?? "")));
  }
  for (const node of nodes) svg.append(box(node, graph.node(node.id) as { x: number; y: number; width: number; height: number }));
  return h("div", { class: "picture", tabIndex: 0, role: "region", "aria-label": label }, svg);
}

/** The rectangle around nodes and edges: dagre leads edges around nodes, also beyond the size that it gives. */
function extent(graph: graphlib.Graph): { left: number; top: number; width: number; height: number } {
  const size = graph.graph() as { width: number; height: number };
  const points = graph.edges().flatMap((edge) => (graph.edge(edge) as { points?: { x: number; y: number }[] }).points ?? []);
  const [left, top] = [Math.min(0, ...points.map((one) => one.x - 4)), Math.min(0, ...points.map((one) => one.y - 4))];
  const [right, bottom] = [Math.max(size.width, ...points.map((one) => one.x + 4)), Math.max(size.height, ...points.map((one) => one.y + 4))];
  return { left, top, width: right - left, height: bottom - top };
}

function box(node: Node, at: { x: number; y: number; width: number; height: number }): SVGGElement {
  const [left, top] = [at.x - at.width / 2, at.y - at.height / 2];
  const act = (event: Event) => {
    if (event instanceof KeyboardEvent && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    node.open?.();
  };
  return s(
    "g",
    { class: `node ${node.kind}`, tabindex: 0, role: node.open ? "button" : "img", "aria-label": node.title, "data-id": node.id, onclick: act, onkeydown: node.open && act },
    s("title", {}, node.title),
    s("rect", { x: left, y: top, width: at.width, height: at.height, rx: node.kind === "rule" ? 0 : 6 }),
    ...node.lines.map((line, number) => s("text", { x: left + 9, y: top + 17 + number * LINE, class: number ? "more" : "" }, cut(line))),
  );
}
