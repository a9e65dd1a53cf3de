/** The page: tabs, the live connection, and the panel with the explanation of what was chosen. */

import "./style.css";
import { follow, onTokenNeeded, running, said, type Found } from "./api";
import { alertsView } from "./alerts";
import { h, show } from "./dom";
import { editorView } from "./editor";
import { explain, forgetDefinitions, knownDefinitions, lettersView, present, whyNotView } from "./explanation";
import { planView } from "./plan";
import { Store } from "./store";
import { TimeLine } from "./timeline";

interface View {
  name: string;
  title: string;
  element: HTMLElement;
  /** Called when the view is opened, and every two seconds while it is. */
  load?: () => Promise<void>;
}

const store = new Store();
const status = h("p", { id: "status", role: "status" }, "connecting");
const spoken = h("p", { class: "spoken", "aria-live": "polite", id: "spoken" }, "Click something, or choose it with the arrow keys and Enter, to see why it was reported.");
const panel = h("div", { id: "explanation" });
let opener: HTMLElement | null = null;
const openPanel = () => {
  opener = document.activeElement as HTMLElement | null;
  document.body.classList.add("explaining");
};
const closePanel = () => {
  document.body.classList.remove("explaining");
  opener?.focus();
};
const openId = (id: string) => {
  openPanel();
  void explain(panel, id);
};
const openRecord = (record: Found, defined: Map<string, string>) => {
  openPanel();
  present(panel, { record, text: "" }, defined);
};

let waiting: Found[] = [];
let paused = false;
const pauseButton = h("button", { id: "pause", "aria-pressed": "false", onclick: () => pause() }, "Pause");
const line = new TimeLine(store, (mark) => openId(mark.id), (text) => show(spoken, text), () => pause());

function pause(): void {
  paused = !paused;
  pauseButton.setAttribute("aria-pressed", String(paused));
  take([]);
}

function take(lot: Found[]): void {
  waiting.push(...lot);
  if (!paused && waiting.length) {
    store.add(waiting);
    waiting = [];
  }
  pauseButton.textContent = paused ? `Go on (${waiting.length} waiting)` : "Pause";
  show(counted, `${store.count.toLocaleString("en")} found`);
  line.refresh();
}

const counted = h("span", { id: "counted" }, "0 found");
const rows = h("select", { id: "rows", onchange: () => ((line.byEvent = rows.value === "event"), line.refresh()) }, h("option", { value: "key" }, "event and key"), h("option", { value: "event" }, "event"));
const filter = h("input", { id: "filter", type: "search", spellcheck: false, oninput: () => ((line.filter = filter.value), line.refresh()) });
const timeView = h(
  "section",
  { class: "timeview" },
  h(
    "div",
    { class: "bar" },
    pauseButton,
    h("button", { onclick: () => line.zoom(0.5), "aria-label": "Zoom in" }, "+"),
    h("button", { onclick: () => line.zoom(2), "aria-label": "Zoom out" }, "−"),
    h("button", { onclick: () => line.fit() }, "All"),
    h("button", { onclick: () => line.follow() }, "Follow"),
    h("label", {}, "Rows by ", rows),
    h("label", {}, "Filter ", filter),
    counted,
  ),
  line.canvas,
  spoken,
);

const names = async (): Promise<string[]> => {
  return (await running()).flatMap((one) => [...one.events, ...one.states]);
};
const plan = planView();
const forget = () => {
  forgetDefinitions();
  void knownDefinitions();
  plan.forget();
};
const views: View[] = [
  { name: "time", title: "Time line", element: timeView },
  { name: "alerts", title: "Alerts", ...alertsView(openId) },
  { name: "query", title: "Query", ...editorView(openRecord, forget) },
  { name: "plan", title: "Plan", ...plan },
  { name: "letters", title: "Dead letters", ...lettersView() },
  { name: "whynot", title: "Why not?", element: whyNotView(names) },
];

/** Tabs as ARIA describes them: arrows move, the rest of the page follows. */
function tabs(): HTMLElement {
  const buttons = views.map((view) =>
    h("button", { role: "tab", id: `tab-${view.name}`, "aria-controls": `view-${view.name}`, onclick: () => open(view) }, view.title),
  );
  const turn = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const number = (views.findIndex((view) => view === opened) + step + views.length) % views.length;
    open(views[number]!);
    buttons[number]!.focus();
  };
  return h("div", { role: "tablist", "aria-label": "Views", onkeydown: turn }, ...buttons);
}

let opened: View = views[0]!;

function open(view: View): void {
  opened = view;
  for (const one of views) {
    const now = one === view;
    one.element.hidden = !now;
    const tab = document.getElementById(`tab-${one.name}`);
    tab?.setAttribute("aria-selected", String(now));
    tab?.setAttribute("tabindex", now ? "0" : "-1");
  }
  document.body.dataset.view = view.name;
  history.replaceState(null, "", `#${view.name}`);
  void load();
}

const trouble = h("p", { class: "error", role: "alert", hidden: true });

async function load(): Promise<void> {
  try {
    await opened.load?.();
    trouble.hidden = true;
  } catch (error) {
    show(trouble, said(error));
    trouble.hidden = false;
  }
}

/** Ask for a token in a dialog. */
function askForToken(): Promise<string> {
  return new Promise((done) => {
    const input = h("input", { id: "token", type: "password", required: true, autocomplete: "off" });
    const submit = (event: Event) => {
      event.preventDefault();
      dialog.close();
      dialog.remove();
      done(input.value.trim());
    };
    const dialog = h(
      "dialog",
      { "aria-labelledby": "token-title", oncancel: (event: Event) => event.preventDefault() },
      h("form", { onsubmit: submit }, h("h2", { id: "token-title" }, "A token is needed"), h("label", { htmlFor: "token" }, "Token"), input, h("button", {}, "Go on"), h("p", { class: "hint" }, "It is kept in this tab only.")),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}

const aside = h("aside", { "aria-label": "Explanation" }, h("button", { id: "close", onclick: closePanel }, "Close"), panel);
aside.addEventListener("keydown", (event) => event.key === "Escape" && closePanel());
onTokenNeeded(askForToken);
for (const view of views) {
  view.element.id = `view-${view.name}`;
  view.element.setAttribute("role", "tabpanel");
  view.element.setAttribute("aria-labelledby", `tab-${view.name}`);
}
document.body.append(
  h("a", { class: "skip", href: "#view", onclick: (event: Event) => (event.preventDefault(), line.canvas.focus()) }, "To the time line"),
  h("header", {}, h("h1", {}, "obep"), tabs(), status),
  h("main", {}, h("div", { class: "views" }, trouble, ...views.map((view) => view.element)), aside),
);
open(views.find((view) => `#${view.name}` === location.hash) ?? views[0]!);
const state = (text: string, live: boolean) => {
  show(status, text);
  status.classList.toggle("live", live);
};
// Rows are made by the parameters of events, so these come first.
void knownDefinitions()
  .catch(() => forgetDefinitions())
  .then(() => follow(take, state));
setInterval(() => document.visibilityState === "visible" && opened.name !== "query" && void load(), 2000);
