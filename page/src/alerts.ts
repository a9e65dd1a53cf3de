/** Alerts, and what people do with them. */

import { get, post, said, type Found } from "./api";
import { h, show, shortened, table, type Child } from "./dom";
import { keyOf } from "./store";

interface Action {
  action: string;
  by: string;
  at: string;
  until?: string;
  comment?: string;
}

interface Alert extends Found {
  notes: { acknowledged: Action | null; snoozed: Action | null; actions: Action[] };
}

const NAME = "obep name";
const SPANS: [string, number][] = [["15 minutes", 15], ["1 hour", 60], ["8 hours", 480], ["1 day", 1440]];

export function alertsView(open: (id: string) => void): { element: HTMLElement; load: () => Promise<void> } {
  const list = h("div", { id: "alerts", "aria-live": "polite" });
  const trouble = h("p", { class: "error", role: "alert" });
  const status = h("select", { id: "alert-status", onchange: () => void load() }, ...["firing", "resolved", "all"].map((one) => h("option", {}, one)));
  const who = h("input", { id: "who", value: sessionStorage.getItem(NAME) ?? "", autocomplete: "name", onchange: () => sessionStorage.setItem(NAME, who.value) });
  const span = h("select", { id: "span" }, ...SPANS.map(([name, minutes]) => h("option", { value: minutes }, name)));
  const comment = h("input", { id: "comment", maxLength: 1000 });
  let before = "";

  async function act(alert: Alert, action: string): Promise<void> {
    const body: Record<string, string> = who.value ? { by: who.value } : {};
    if (action === "snooze") body.until = new Date(Date.now() + Number(span.value) * 60_000).toISOString();
    if (comment.value && action !== "unsnooze") body.comment = comment.value;
    try {
      await post(`alerts/${encodeURIComponent(alert.id ?? "")}/${action}`, body);
      comment.value = "";
      show(trouble);
      await load();
    } catch (error) {
      show(trouble, said(error));
    }
  }

  function button(alert: Alert, action: string, text: string): HTMLElement {
    const name = `${shortened(alert.alert ?? "")} ${keyOf(alert)}`;
    return h("button", { "data-key": `${alert.id} ${action}`, "aria-label": `${text} ${name}`, onclick: () => void act(alert, action) }, text);
  }

  function row(alert: Alert): Child[] {
    const { acknowledged, snoozed, actions } = alert.notes;
    const done = actions.map((one) => h("li", {}, `${one.action} by ${one.by} at ${one.at}${one.until ? `, until ${one.until}` : ""}${one.comment ? `: ${one.comment}` : ""}`));
    return [
      h("button", { "data-key": alert.id, onclick: () => open(alert.id ?? "") }, shortened(alert.alert ?? "")),
      keyOf(alert),
      `${alert.status}${acknowledged ? ", acknowledged" : ""}${snoozed ? `, snoozed until ${snoozed.until}` : ""}`,
      h("span", { class: "instant" }, String(alert.since ?? "")),
      h("ul", { class: "notes" }, ...done),
      h("span", { class: "actions" }, button(alert, "ack", "Acknowledge"), snoozed ? button(alert, "unsnooze", "Unsnooze") : button(alert, "snooze", "Snooze"), button(alert, "comment", "Comment")),
    ];
  }

  async function load(): Promise<void> {
    const { alerts } = await get<{ alerts: Alert[] }>(`alerts?status=${status.value}`);
    const now = JSON.stringify(alerts);
    if (now === before) return;
    before = now;
    const focused = (document.activeElement as HTMLElement | null)?.dataset.key;
    show(list, alerts.length ? table(`Alerts: ${alerts.length}`, ["Alert", "Of", "Status", "Since", "Notes", "Actions"], alerts.map(row)) : h("p", {}, `No alert is ${status.value === "all" ? "there" : status.value}.`));
    for (const one of list.querySelectorAll<HTMLElement>("[data-key]")) if (focused && one.dataset.key === focused) one.focus();
  }

  const bar = h("div", { class: "bar" }, h("label", {}, "Show ", status), h("label", {}, "Your name ", who), h("label", {}, "Snooze for ", span), h("label", {}, "Comment ", comment));
  return { element: h("section", {}, bar, trouble, list), load };
}
