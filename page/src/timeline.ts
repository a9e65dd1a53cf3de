/** The time line: a row for each event and key on one canvas. What is drawn is bounded by pixels, not by data. */

import { h, shortened } from "./dom";
import { Lane, lowerBound, type Mark, type Store } from "./store";

const GUTTER = 210;
const AXIS = 24;
const ROW = 22;
const NEAR = 8;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5];
const DAY = 864e5;
/** p2 before p10. */
const ORDER = new Intl.Collator("en", { numeric: true });
const KEYS = "Arrows move from mark to mark and row to row, Enter explains one, plus and minus zoom, Home shows all, End follows the latest, space pauses.";

export class TimeLine {
  readonly canvas: HTMLCanvasElement;
  /** By event alone, or by event and key. */
  byEvent = false;
  filter = "";
  private context: CanvasRenderingContext2D;
  private from = 0;
  private to = 1;
  /** `fit` shows all, `follow` keeps the width and the latest in view. */
  private mode: "fit" | "follow" | "free" = "fit";
  private scrolled = 0;
  private chosen: { lane: Lane; mark: Mark } | null = null;
  private scheduled = false;
  private drawn = 0;
  /** How wide the marks may be, in pixels. It is kept: to ask the canvas for each mark takes far longer than to draw. */
  private inner = 1;

  constructor(
    private store: Store,
    private open: (mark: Mark) => void,
    private say: (text: string) => void,
    pause: () => void,
  ) {
    this.canvas = h("canvas", { id: "timeline", tabIndex: 0, role: "application", "aria-label": `Time line. ${KEYS}` });
    this.context = this.canvas.getContext("2d")!;
    new ResizeObserver(() => this.refresh()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.refresh());
    this.listenToMouse();
    this.canvas.addEventListener("keydown", (event) => {
      if (this.key(event, pause)) event.preventDefault();
    });
  }

  /** Draw before the next frame. */
  refresh(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.draw();
    });
  }

  fit(): void {
    this.mode = "fit";
    this.refresh();
  }

  follow(): void {
    this.mode = "follow";
    this.refresh();
  }

  /** Zoom around an instant, or around what is chosen. */
  zoom(factor: number, around?: number): void {
    const centre = around ?? this.chosen?.mark.start ?? (this.from + this.to) / 2;
    const width = Math.min(Math.max((this.to - this.from) * factor, 2), 1e14);
    const share = Math.min(Math.max((centre - this.from) / (this.to - this.from), 0), 1);
    this.from = centre - width * share;
    this.to = this.from + width;
    this.mode = "free";
    this.refresh();
  }

  private lanes(): Lane[] {
    const all = [...(this.byEvent ? this.store.events : this.store.lanes).values()];
    const wanted = this.filter.toLowerCase();
    return all
      .filter((lane) => !wanted || `${lane.event} ${lane.key}`.toLowerCase().includes(wanted))
      .sort((a, b) => ORDER.compare(a.event, b.event) || ORDER.compare(a.key, b.key));
  }

  private x(at: number): number {
    return GUTTER + ((at - this.from) / (this.to - this.from)) * this.inner;
  }

  private instant(x: number): number {
    return this.from + ((x - GUTTER) / this.inner) * (this.to - this.from);
  }

  private endOf(mark: Mark): number {
    return mark.end === Infinity ? Math.max(this.store.last, mark.start) : mark.end;
  }

  private place(): void {
    const { first, last } = this.store;
    if (first === Infinity) return;
    if (this.mode === "fit") {
      const margin = Math.max((last - first) * 0.03, 500);
      [this.from, this.to] = [first - margin, last + margin];
    } else if (this.mode === "follow") {
      const width = this.to - this.from;
      this.to = last + width * 0.05;
      this.from = this.to - width;
    }
  }

  private draw(): void {
    const { canvas, context } = this;
    const [width, height, scale] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio];
    if (!width || !height) return;
    this.inner = Math.max(width - GUTTER - 8, 1);
    if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
    if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const style = getComputedStyle(canvas);
    const [ink, faint, line] = ["--ink", "--faint", "--line"].map((name) => style.getPropertyValue(name).trim()) as [string, string, string];
    const light = style.getPropertyValue("--mark").trim();
    context.clearRect(0, 0, width, height);
    context.font = `12px ${style.fontFamily}`;
    context.textBaseline = "middle";
    this.place();
    const lanes = this.lanes();
    this.scrolled = Math.max(0, Math.min(this.scrolled, lanes.length * ROW - (height - AXIS)));
    this.drawn = 0;
    context.save();
    context.beginPath();
    context.rect(0, AXIS, width, height - AXIS);
    context.clip();
    const top = Math.floor(this.scrolled / ROW);
    for (let row = top; row < lanes.length && row * ROW - this.scrolled < height; row++) {
      const lane = lanes[row]!;
      const y = AXIS + row * ROW - this.scrolled;
      context.fillStyle = line;
      context.fillRect(0, y + ROW - 1, width, 1);
      this.marks(lane, y, light);
      context.clearRect(0, y, GUTTER - 4, ROW - 1);
      const event = shortened(lane.event);
      context.fillStyle = ink;
      context.fillText(event, 6, y + ROW / 2, lane.key ? 110 : GUTTER - 14);
      context.fillStyle = faint;
      const left = 12 + Math.min(context.measureText(event).width, 110);
      if (lane.key) context.fillText(lane.key, left, y + ROW / 2, GUTTER - left - 8);
      if (this.chosen?.lane === lane) this.outline(this.chosen.mark, y, ink);
    }
    context.restore();
    this.axis(width, faint, line);
    Object.assign(canvas.dataset, { count: this.store.count, lanes: lanes.length, drawn: this.drawn });
  }

  /** The marks of a row; those that share their pixels become one. */
  private marks(lane: Lane, y: number, light: string): void {
    const marks = lane.inOrder();
    const until = this.to;
    let [begun, reached] = [NaN, -Infinity];
    this.context.fillStyle = `hsl(${hue(lane.event)} 65% ${light})`;
    const flush = () => {
      if (Number.isNaN(begun)) return;
      this.context.fillRect(begun, y + 4, Math.max(reached - begun, 3), ROW - 9);
      this.drawn++;
    };
    for (let i = lane.from(this.from); i < marks.length; i++) {
      const mark = marks[i]!;
      if (mark.start > until) break;
      const end = this.endOf(mark);
      if (end < this.from) continue;
      const left = Math.max(this.x(mark.start), GUTTER);
      const right = Math.min(this.x(end), GUTTER + this.inner + 8);
      if (left <= Math.max(reached, begun + 3) + 0.5) reached = Math.max(reached, right);
      else {
        flush();
        [begun, reached] = [left, right];
      }
    }
    flush();
  }

  private outline(mark: Mark, y: number, ink: string): void {
    const [left, right] = [this.x(mark.start), this.x(this.endOf(mark))];
    this.context.strokeStyle = ink;
    this.context.lineWidth = 2;
    this.context.strokeRect(left - 3, y + 2, Math.max(right - left, 3) + 6, ROW - 5);
    this.canvas.dataset.chosen = mark.id;
    this.canvas.dataset.at = `${Math.round(left + 1)},${Math.round(y + ROW / 2)}`;
  }

  private axis(width: number, faint: string, line: string): void {
    const { context } = this;
    const least = ((this.to - this.from) / this.inner) * 110;
    const step = STEPS.find((one) => one >= least) ?? Math.ceil(least / DAY) * DAY;
    context.fillStyle = faint;
    for (let at = Math.ceil(this.from / step) * step; at <= this.to && Number.isFinite(step); at += step) {
      const x = this.x(at);
      context.fillStyle = line;
      context.fillRect(x, AXIS - 6, 1, 6);
      context.fillStyle = faint;
      if (x < width - 70) context.fillText(this.label(at, step), x + 3, AXIS / 2);
    }
  }

  private label(at: number, step: number): string {
    if (this.store.plain) return String(Math.round(at) / 1000);
    const text = new Date(at).toISOString();
    if (step >= DAY || at % DAY === 0) return text.slice(0, 10);
    return text.slice(11, step >= 6e4 ? 16 : step >= 1000 ? 19 : 23);
  }

  private laneAt(y: number): Lane | undefined {
    return y < AXIS ? undefined : this.lanes()[Math.floor((y - AXIS + this.scrolled) / ROW)];
  }

  private markAt(x: number, y: number): { lane: Lane; mark: Mark } | null {
    const lane = this.laneAt(y);
    if (!lane || x < GUTTER - NEAR) return null;
    const marks = lane.inOrder();
    let best: { lane: Lane; mark: Mark } | null = null;
    let nearest: [number, number] = [NEAR, Infinity];
    for (let i = lane.from(this.instant(x - NEAR)); i < marks.length; i++) {
      const mark = marks[i]!;
      if (this.x(mark.start) > x + NEAR) break;
      const end = this.endOf(mark);
      const off = Math.max(this.x(mark.start) - x, x - this.x(end), 0);
      const long = end - mark.start;
      if (off < nearest[0] || (off === nearest[0] && long < nearest[1])) [best, nearest] = [{ lane, mark }, [off, long]];
    }
    return best;
  }

  private listenToMouse(): void {
    const { canvas } = this;
    let drag: { x: number; y: number; moved: boolean } | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.offsetX, y: event.offsetY, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) {
        canvas.classList.toggle("hit", this.markAt(event.offsetX, event.offsetY) !== null);
        return;
      }
      const [right, down] = [event.offsetX - drag.x, event.offsetY - drag.y];
      if (!drag.moved && Math.abs(right) + Math.abs(down) < 4) return;
      const by = (right / this.inner) * (this.to - this.from);
      this.from -= by;
      this.to -= by;
      this.scrolled -= down;
      this.mode = "free";
      drag = { x: event.offsetX, y: event.offsetY, moved: true };
      this.refresh();
    });
    canvas.addEventListener("pointerup", (event) => {
      const hit = drag && !drag.moved ? this.markAt(event.offsetX, event.offsetY) : null;
      drag = null;
      if (!hit) return;
      this.choose(hit.lane, hit.mark);
      this.open(hit.mark);
    });
    canvas.addEventListener("pointercancel", () => (drag = null));
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          this.scrolled += event.deltaY || event.deltaX;
          this.refresh();
        } else this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.instant(event.offsetX));
      },
      { passive: false },
    );
  }

  private key(event: KeyboardEvent, pause: () => void): boolean {
    if (event.ctrlKey || event.altKey || event.metaKey) return false;
    const act: Record<string, () => void> = {
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      ArrowDown: () => this.row(1),
      ArrowUp: () => this.row(-1),
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      Home: () => this.fit(),
      End: () => this.follow(),
      " ": pause,
      Enter: () => this.chosen && this.open(this.chosen.mark),
    };
    act[event.key]?.();
    return event.key in act;
  }

  private step(by: number): void {
    if (!this.chosen) return this.row(0);
    const { lane, mark } = this.chosen;
    const next = lane.inOrder()[lane.marks.indexOf(mark) + by];
    if (next) this.choose(lane, next);
  }

  private row(by: number): void {
    const lanes = this.lanes();
    if (!lanes.length) return;
    const before = this.chosen ? lanes.indexOf(this.chosen.lane) : -1;
    const number = before < 0 ? 0 : Math.min(Math.max(before + by, 0), lanes.length - 1);
    const lane = lanes[number]!;
    const marks = lane.inOrder();
    const near = this.chosen ? lowerBound(marks, this.chosen.mark.start) : 0;
    this.choose(lane, marks[Math.min(near, marks.length - 1)]!);
    const visible = this.canvas.clientHeight - AXIS - ROW;
    this.scrolled = Math.min(Math.max(this.scrolled, number * ROW - visible), number * ROW);
  }

  private choose(lane: Lane, mark: Mark): void {
    this.chosen = { lane, mark };
    if (mark.start < this.from || mark.start > this.to) {
      const width = this.to - this.from;
      this.from = mark.start - width / 2;
      this.to = this.from + width;
      this.mode = "free";
    }
    const end = mark.end === Infinity ? "and still" : `to ${this.store.shown(mark.end)}`;
    this.say(`${shortened(mark.event)} ${mark.key}: ${mark.kind} from ${this.store.shown(mark.start)} ${end}`);
    this.refresh();
  }
}

/** A colour for a name; the same in every session. */
function hue(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)!) % 9973;
  return (sum * 137) % 360;
}
