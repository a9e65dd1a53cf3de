/** Elements from text. Nothing here or elsewhere reads text as HTML: what a stream says can only be shown. */

import { said } from "./api";

export type Child = Node | string | number | null | undefined | false;
type Props = Record<string, unknown>;

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. `on…` are listeners, `class`, `aria-…` and the like attributes, the rest properties. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), props, children);
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, tag) as SVGElementTagNameMap[K], props, children);
}

function fill<T extends Element>(element: T, props: Props, children: Child[]): T {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name in element && !(element instanceof SVGElement) && !name.includes("-") && name !== "list" && name !== "role")
      (element as unknown as Props)[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

export function append(element: Element, children: Child[]): void {
  for (const child of children)
    if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : String(child));
}

const pending = new WeakMap<Element, object>();

/** Put other children into an element; an answer that it waits for is shown no more. */
export function show(element: Element, ...children: Child[]): void {
  pending.delete(element);
  element.replaceChildren();
  append(element, children);
}

/** Show an answer when it comes, or why there is none. False: something else was shown meanwhile, and stays. */
export async function showAnswer(element: Element, asked: Promise<Child[]>): Promise<boolean> {
  const mine = {};
  show(element, "…");
  pending.set(element, mine);
  const answer = await asked.catch((error: unknown) => [h("p", { class: "error", role: "alert" }, said(error))]);
  if (pending.get(element) !== mine) return false;
  show(element, ...answer);
  return true;
}

/** A table with a caption; a cell is text or an element. */
export function table(caption: string, heads: string[], rows: Child[][]): HTMLTableElement {
  return h(
    "table",
    {},
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))))),
  );
}

/** A value of JSON as nested lists, for answers whose form is the service's own. */
export function outline(value: unknown): Child {
  if (Array.isArray(value)) return value.length ? h("ul", {}, ...value.map((one) => h("li", {}, outline(one)))) : "none";
  if (value !== null && typeof value === "object")
    return h("dl", {}, ...Object.entries(value).flatMap(([key, one]) => [h("dt", {}, key.replaceAll("_", " ")), h("dd", {}, outline(one))]));
  return value === null || value === "" ? "none" : value === true ? "yes" : value === false ? "no" : shortened(String(value));
}

/** The end of an IRI; a literal without its type. */
export function shortened(term: string): string {
  const literal = /^"((?:[^"\\]|\\.)*)"(?:@[\w-]+|(\^\^<[^>]*>))?$/s.exec(term);
  if (literal) return literal[2] ? literal[1]! : `"${literal[1]}"`;
  const iri = term.startsWith("<") && term.endsWith(">") ? term.slice(1, -1) : term;
  if (!/^[a-z][a-z0-9+.-]*:/i.test(iri) || /\s/.test(iri)) return term;
  return /[^#/:]+$/.exec(iri)?.[0] ?? iri;
}

/** A triple of N-Triples for people. */
export function triple(line: string): string {
  const terms = line.match(/<[^>]*>|_:\S+|"(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^<[^>]*>)?/gs);
  return terms?.length === 3 ? terms.map(shortened).join(" ") : line;
}
