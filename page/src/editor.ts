/** The editor of the query: errors as one types, a trial on recorded items, and a dry run before it goes live. */

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, linter, lintKeymap, type Diagnostic } from "@codemirror/lint";
import { EditorState, type Text } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { post, put, remove, running as listed, said, type Explained, type Found, type Running, type Trouble } from "./api";
import { definitions } from "./explanation";
import { h, outline, show, showAnswer, shortened, table, type Child } from "./dom";
import { Store, type Mark } from "./store";
import { TimeLine } from "./timeline";

/** What a replacement does, or would do; lists are of IRIs. */
interface Replacement {
  kept: string[];
  begun: string[];
  warmed?: string[];
  gone: string[];
  changed: { name: string; before: string; after: string }[];
  streams_added: string[];
  streams_removed: string[];
  resolved: unknown[];
  firing: unknown[];
  waiting: number;
}

interface Replaced {
  replacement: Replacement;
}

interface Tried {
  events: Found[];
  total: number;
  items: number;
  letters: { code: string; reason: string; line?: number }[];
}

const language = StreamLanguage.define({
  token(stream) {
    if (stream.match(/#.*/)) return "comment";
    if (stream.match(/<[^>\s]*>/)) return "url";
    if (stream.match(/"(?:[^"\\]|\\.)*"/)) return "string";
    if (stream.match(/[?$]\w+/)) return "variableName";
    if (stream.match(/\b[A-Z][A-Z]+\b/)) return "keyword";
    if (stream.match(/\d[\w.]*/)) return "number";
    if (!stream.match(/[\w:.-]+/)) stream.next();
    return null;
  },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
  { tag: tags.keyword, color: "var(--accent)", fontWeight: "bold" },
  { tag: [tags.string, tags.url], color: "var(--good)" },
  { tag: [tags.variableName, tags.number], color: "var(--warn)" },
]);

const theme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--paper)", border: "1px solid var(--line)", maxHeight: "45vh", fontSize: "13px" },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-scroller": { overflow: "auto", fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace' },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { color: "var(--faint)", backgroundColor: "var(--shade)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent) !important" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--warn)" },
  ".cm-tooltip": { color: "var(--ink)", backgroundColor: "var(--shade)", border: "1px solid var(--line)" },
});

/** Where a line and a column are; columns count characters, as Python does. */
function offset(text: Text, line: number, column: number): number {
  const found = text.line(Math.min(Math.max(line, 1), text.lines));
  return found.from + [...found.text].slice(0, column - 1).join("").length;
}

function marked(text: Text, one: Trouble): Diagnostic {
  const from = one.line ? offset(text, one.line, one.column ?? 1) : 0;
  const to = one.line ? offset(text, one.endLine ?? one.line, one.endColumn ?? (one.column ?? 1) + 1) : 0;
  return { from, to: Math.max(to, from), severity: one.severity === "warning" ? "warning" : "error", message: `${one.code}  ${one.message}` };
}

function effects(of: Replacement): HTMLElement {
  const warmed = new Set(of.warmed);
  const cold = (name: string) => !warmed.has(name);
  const rows: [string, string[]][] = [
    ["keep their state", of.kept.map(shortened)],
    ["begin empty", of.begun.filter(cold).map(shortened)],
    ["mean something else, and begin empty", of.changed.filter((one) => cold(one.name)).map((one) => `${shortened(one.name)}: ${one.before} → ${one.after}`)],
    ["begin from the history", [...warmed].map(shortened)],
    ["go", of.gone.map(shortened)],
    ["streams that are new", of.streams_added],
    ["streams that are no longer read", of.streams_removed],
    ["alerts that are resolved", of.resolved.length ? [String(of.resolved.length)] : []],
    ["alerts that fire", of.firing.length ? [String(of.firing.length)] : []],
  ];
  return h("dl", { class: "effects" }, ...rows.filter(([, names]) => names.length).flatMap(([what, names]) => [h("dt", {}, what), ...names.map((name) => h("dd", {}, name))]));
}

export function editorView(explainRecord: (record: Found, defined: Map<string, string>) => void, changed: () => void): { element: HTMLElement; load: () => Promise<void> } {
  const host = h("div", { id: "editor" });
  const errors = h("ul", { id: "errors", "aria-live": "polite", "aria-label": "What is wrong or odd" });
  const result = h("div", { id: "result", "aria-live": "polite" });
  const stream = h("select", { id: "stream" });
  const file = h("input", { id: "recorded", type: "file", accept: ".jsonl,.ndjson,.json" });
  const tryButton = h("button", { id: "try", onclick: () => void showAnswer(result, attempt()) }, "Run on it");
  const putButton = h("button", { id: "put", onclick: dryRun }, "Put live…");
  const choice = h("select", { id: "query-name", onchange: () => choose(choice.value) });
  const newName = h("input", { id: "new-query", size: 12, spellcheck: false, placeholder: "name", pattern: "[A-Za-z0-9_][A-Za-z0-9_.\\-]*", required: true });
  const deleteButton = h("button", { id: "delete", type: "button", onclick: dryDelete }, "Delete…");
  let queries: Running[] = [];
  let name = "";
  let view: EditorView | null = null;

  const text = () => view?.state.doc.toString() ?? "";

  async function check(editor: EditorView): Promise<Diagnostic[]> {
    const doc = editor.state.doc;
    try {
      const { diagnostics } = await post<{ diagnostics: Trouble[] }>("check", { query: doc.toString(), name });
      list(editor, diagnostics);
      return diagnostics.map((one) => marked(doc, one));
    } catch (error) {
      show(errors, h("li", { class: "error" }, said(error)));
      return [];
    }
  }

  function list(editor: EditorView, found: Trouble[]): void {
    const go = (one: Trouble) => () => {
      editor.dispatch({ selection: { anchor: marked(editor.state.doc, one).from }, scrollIntoView: true });
      editor.focus();
    };
    const wrong = found.some((one) => one.severity !== "warning");
    putButton.disabled = tryButton.disabled = wrong;
    const shown = found.map((one) =>
      h(
        "li",
        { class: one.severity === "warning" ? "warning" : "error" },
        one.line ? h("button", { onclick: go(one) }, `line ${one.line}`) : "",
        ` ${one.code}  ${one.message}${one.reason ? `. ${one.reason}` : ""}`,
        one.remedy ? h("pre", {}, `Try:  ${one.remedy}`) : "",
      ),
    );
    show(errors, ...(shown.length ? shown : [h("li", { class: "hint" }, "Nothing is wrong.")]));
  }

  function create(doc: string): EditorView {
    // In a shadow root the editor adopts its style sheets, which the page's policy would refuse as <style>.
    const root = host.attachShadow({ mode: "open" });
    const state = EditorState.create({
      doc,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        highlightActiveLine(),
        keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
        language,
        syntaxHighlighting(colours),
        linter(check, { delay: 400 }),
        lintGutter(),
        theme,
        EditorView.contentAttributes.of({ "aria-label": "Query. Escape, then Tab, leaves the editor." }),
      ],
    });
    return new EditorView({ state, parent: root, root });
  }

  async function attempt(): Promise<Child[]> {
    const chosen = file.files?.[0];
    const query = text();
    const recorded = chosen && { items: { [stream.value]: await chosen.text() } };
    const [found, said] = await Promise.all([post<Tried>("try", { query, name, ...recorded }), post<Explained>("explain", { query, name })]);
    const defined = definitions(said);
    const store = new Store();
    store.add(found.events);
    const records = new Map(found.events.map((one) => [one.id, one]));
    const line = new TimeLine(store, (mark: Mark) => explainRecord(records.get(mark.id)!, defined), () => {}, () => {});
    line.canvas.id = "trial";
    const counts = Map.groupBy(found.events, (one) => one.alert ?? one.event ?? one.query ?? "");
    return [
      h("p", {}, `${found.items} items, ${found.total} found${found.total > found.events.length ? `, the first ${found.events.length} are shown` : ""}, ${found.letters.length} refused.`),
      table("What it finds", ["Event", "How often"], [...counts].map(([name, all]) => [shortened(name), all.length])),
      found.events.length > 0 && line.canvas,
      found.letters.length > 0 && outline(found.letters),
    ];
  }

  /** Show what a change would do, and a button that makes it. */
  async function offerChange(dry: Promise<Replaced>, make: string, change: () => Promise<Child[]>, ...more: Child[]): Promise<void> {
    const confirm = h("button", { id: "confirm", onclick: () => void showAnswer(result, change()) }, make);
    const leave = h("button", { onclick: () => show(result) }, "Leave it");
    await showAnswer(result, dry.then((said) => [h("h3", {}, "What would happen"), effects(said.replacement), ...more, h("p", {}, confirm, " ", leave)]));
    confirm.focus();
  }

  function dryRun(): void {
    const path = `queries/${encodeURIComponent(name)}`;
    const sent = { query: text() };
    const warm = h("input", { id: "warm", placeholder: "10 min", size: 8 });
    const live = async () => {
      const span = warm.value.trim();
      const { replacement } = await put<Replaced>(span ? `${path}?warm=${encodeURIComponent(span)}` : path, sent);
      await load();
      changed();
      return [h("h3", { id: "is-live" }, "It is live"), effects(replacement)];
    };
    void offerChange(put<Replaced>(`${path}?dry_run=true`, sent), "Put live now", live, h("p", {}, h("label", {}, "Begin with the history of ", warm)));
  }

  /** Edit another query; a name that none has begins with the head of the one before. */
  function edit(other: string): void {
    const found = queries.find((one) => one.name === other);
    const head = text().match(/^\s*(?:PREFIX|FROM|VOCAB|INCLUDE)\b.*$/gm)?.join("\n") ?? "";
    name = other;
    if (found || view) fill(found?.text ?? `${head}\n`);
    offer();
  }

  function choose(other: string): void {
    edit(other);
    show(result);
  }

  function fill(doc: string): void {
    view?.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: doc } });
  }

  function offer(): void {
    const names = [...new Set([...queries.map((one) => one.name), name])];
    show(choice, ...names.map((one) => h("option", { value: one }, queries.some((other) => other.name === one) ? one : `${one} (new)`)));
    choice.value = name;
    const own = queries.find((one) => one.name === name);
    deleteButton.disabled = !own || queries.length < 2;
    show(stream, ...(own?.streams ?? [...new Set(queries.flatMap((one) => one.streams))]).map((one) => h("option", {}, one)));
  }

  function dryDelete(): void {
    const path = `queries/${encodeURIComponent(name)}`;
    const gone = async () => {
      const { replacement } = await remove<Replaced>(path);
      await load();
      edit(queries[0]?.name ?? "");
      changed();
      return [h("h3", { id: "is-gone" }, "It is deleted"), effects(replacement)];
    };
    void offerChange(remove<Replaced>(`${path}?dry_run=true`), `Delete ${name} now`, gone);
  }

  async function load(): Promise<void> {
    queries = await listed();
    name ||= queries[0]?.name ?? "";
    view ??= create(queries.find((one) => one.name === name)?.text ?? "");
    offer();
  }

  const begin = (event: Event) => {
    event.preventDefault();
    choose(newName.value.trim());
    newName.value = "";
    view?.focus();
  };
  const element = h(
    "section",
    {},
    h("form", { class: "bar", onsubmit: begin }, h("label", {}, "Query ", choice), deleteButton, h("label", {}, "Another one ", newName), h("button", { id: "begin" }, "Begin")),
    host,
    errors,
    h("div", { class: "bar" }, h("label", {}, "Stream ", stream), h("label", {}, "Recorded items ", file), tryButton, putButton),
    h("p", { class: "hint" }, "Without a file, a trial takes the items that the log of the service still has."),
    result,
  );
  return { element, load };
}
