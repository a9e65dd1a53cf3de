/** What was found, as rows of a time line: little of each record, so that 100,000 of them fit. */

import type { Found, Instant } from "./api";
import { shortened } from "./dom";

export interface Mark {
  id: string;
  event: string;
  key: string;
  kind: "event" | "alert" | "answer";
  start: number;
  /** Infinity: it still holds. */
  end: number;
}

/** The marks of one event and key. */
export class Lane {
  marks: Mark[] = [];
  /** The longest mark that has an end: how far before a view one may begin. */
  longest = 0;
  open = 0;
  private sorted = true;

  constructor(readonly event: string, readonly key: string) {}

  add(mark: Mark): void {
    const last = this.marks.at(-1);
    if (last && last.start > mark.start) this.sorted = false;
    this.marks.push(mark);
    this.measure(mark);
  }

  measure(mark: Mark): void {
    if (mark.end === Infinity) this.open++;
    else this.longest = Math.max(this.longest, mark.end - mark.start);
  }

  /** All marks, by their starts. */
  inOrder(): Mark[] {
    if (!this.sorted) this.marks.sort((a, b) => a.start - b.start);
    this.sorted = true;
    return this.marks;
  }

  /** The index of the first mark that may reach into what begins at an instant. */
  from(instant: number): number {
    return this.open ? 0 : lowerBound(this.inOrder(), instant - this.longest);
  }
}

/** The index of the first mark that starts at an instant or later. */
export function lowerBound(marks: Mark[], instant: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (marks[middle]!.start < instant) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** An instant in milliseconds; plain numbers are seconds. */
export const millis = (instant: Instant): number => (typeof instant === "number" ? instant * 1000 : Date.parse(instant));

export class Store {
  /** By event, key and kind. */
  lanes = new Map<string, Lane>();
  /** By event and kind. */
  events = new Map<string, Lane>();
  count = 0;
  first = Infinity;
  last = -Infinity;
  /** Whether instants are plain numbers. */
  plain = false;
  /** Changes with everything that is added. */
  version = 0;
  private firing = new Map<string, [Mark, Lane[]]>();

  add(lot: Found[]): void {
    for (const one of lot) this.take(one);
    this.version++;
  }

  private take(one: Found): void {
    const event = one.alert ?? one.event ?? one.query ?? "";
    const id = one.id ?? "";
    const begun = this.firing.get(id);
    if (one.alert && one.status === "resolved" && begun) {
      const [mark, lanes] = begun;
      mark.end = millis(one.until ?? one.at ?? 0);
      for (const lane of lanes) {
        lane.open--;
        lane.measure(mark);
      }
      this.firing.delete(id);
      this.last = Math.max(this.last, mark.end);
      return;
    }
    const begin = one.since ?? one.start ?? one.at ?? 0;
    const kind = one.alert ? "alert" : one.query ? "answer" : "event";
    const start = millis(begin);
    const end = one.alert && one.status !== "resolved" ? Infinity : millis(one.until ?? one.end ?? one.at ?? begin);
    const mark: Mark = { id, event, key: keyOf(one), kind, start, end };
    const lanes = [laneOf(this.lanes, event, kind, mark.key), laneOf(this.events, event, kind, "")];
    for (const lane of lanes) lane.add(mark);
    if (end === Infinity) this.firing.set(id, [mark, lanes]);
    this.plain ||= typeof begin === "number";
    this.count++;
    this.first = Math.min(this.first, start);
    this.last = Math.max(this.last, start, end === Infinity ? start : end);
  }

  /** An instant for people. */
  shown(at: number): string {
    if (this.plain) return String(Math.round(at) / 1000);
    return new Date(at).toISOString().replace(".000Z", "Z");
  }
}

function laneOf(lanes: Map<string, Lane>, event: string, kind: string, key: string): Lane {
  const name = `${event}\n${kind}\n${key}`;
  let lane = lanes.get(name);
  if (!lane) lanes.set(name, (lane = new Lane(event, key)));
  return lane;
}

/** The parameters of events, by name; set when the query is known. */
export const parameters = new Map<string, string[]>();

/** What an occurrence is about: the values of its parameters, else of its variables, else the individual. */
export function keyOf(one: Found): string {
  const { alertname: _, ...labels } = one.labels ?? {};
  const bound = Object.keys(labels).length ? labels : (one.bindings?.[0] ?? {});
  const wanted = parameters.get(shortened(one.event ?? ""))?.filter((name) => name in bound) ?? [];
  const values = wanted.length ? wanted.map((name) => bound[name]!) : Object.values(bound);
  if (values.length) return values.map(shortened).join(", ");
  const individual = one.because?.length === 1 ? one.because[0]?.individual : undefined;
  return individual && !individual.startsWith("urn:obep:") ? shortened(individual) : "";
}
