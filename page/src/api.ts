/** The calls of the service. The token lives in this tab only (sessionStorage). */

export interface Trouble {
  code: string;
  message: string;
  severity?: string;
  reason?: string;
  remedy?: string;
  line?: number;
  column?: number;
  endLine?: number;
  endColumn?: number;
}

/** A request that the service refused. */
export class Refused extends Error {
  constructor(readonly status: number, readonly errors: Trouble[]) {
    super(errors.map((one) => `${one.code}  ${one.message}${one.reason ? `. ${one.reason}` : ""}`).join("\n") || `HTTP ${status}`);
  }
}

const KEY = "obep token";
let asking: Promise<string> | null = null;
let ask: () => Promise<string> = () => Promise.reject(new Error("no token"));

/** Set who asks for a token when the service wants one. */
export function onTokenNeeded(asker: () => Promise<string>): void {
  ask = asker;
}

async function renew(): Promise<void> {
  sessionStorage.removeItem(KEY);
  asking ??= ask().finally(() => (asking = null));
  sessionStorage.setItem(KEY, await asking);
}

function headers(): Record<string, string> {
  const token = sessionStorage.getItem(KEY);
  return token ? { Authorization: `Bearer ${token}` } : {};
}

async function call<T>(method: string, path: string, body?: unknown, type = "application/json"): Promise<T> {
  for (;;) {
    const sent = headers();
    const init: RequestInit = { method, headers: body === undefined ? sent : { ...sent, "Content-Type": type } };
    if (body !== undefined) init.body = type === "application/json" ? JSON.stringify(body) : (body as string);
    const response = await fetch(path, init);
    if (response.status === 401) {
      if (headers().Authorization === sent.Authorization) await renew();
      continue;
    }
    const said = await response.json().catch(() => ({}));
    if (!response.ok) throw new Refused(response.status, said.errors ?? []);
    return said as T;
  }
}

export const get = <T>(path: string): Promise<T> => call<T>("GET", path);
export const post = <T>(path: string, body: unknown, type?: string): Promise<T> => call<T>("POST", path, body, type);
export const remove = <T>(path: string): Promise<T> => call<T>("DELETE", path);
export const put = <T>(path: string, body: unknown): Promise<T> => call<T>("PUT", path, body);

/** What is wrong, for people. */
export const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A query that runs. */
export interface Running {
  name: string;
  text: string;
  hash: string;
  streams: string[];
  events: string[];
  states: string[];
}

export const running = async (): Promise<Running[]> => (await get<{ queries: Running[] }>("queries")).queries;

/** What a query is made of. */
export interface Explained {
  text: string;
  graph: { nodes: { id: string; kind: string; text: string }[]; edges: { source: string; target: string; text: string }[] };
  definitions: { iri: string; name: string; parameters: string[]; text: string }[];
}

export interface Frame {
  seq: number;
  kind: string;
  record: Found;
}

export type Instant = string | number;

/** A part of an occurrence, or the occurrence itself, as `because` says it. */
export interface Cause {
  event: string;
  alias?: string;
  moment?: string;
  individual?: string;
  start: Instant;
  end: Instant;
  assertions?: string[];
  seen?: (Instant | null)[];
  bindings?: Record<string, string>[];
  because?: Cause[];
  follows_from?: Cause[];
  context?: boolean;
}

/** An occurrence, alert or answer as the service writes it. */
export interface Found {
  event?: string;
  alert?: string;
  query?: string;
  id?: string;
  start?: Instant;
  end?: Instant;
  since?: Instant;
  until?: Instant;
  at?: Instant;
  status?: string;
  detected?: Instant;
  labels?: Record<string, string>;
  bindings?: Record<string, string>[];
  rows?: Record<string, string>[];
  because?: Cause[];
}

/** Read what was found, from a number on, and then what comes; goes on by itself after a break. */
export function follow(take: (lot: Found[]) => void, status: (text: string, live: boolean) => void): void {
  let next = 0;
  const wait = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

  async function load(): Promise<void> {
    for (;;) {
      const lot = await get<{ events: Found[]; next: number }>(`events?since=${next}&limit=10000`);
      take(lot.events);
      if (lot.next <= next || !lot.events.length) return;
      next = lot.next;
      status(`loading: ${next}`, false);
    }
  }

  function watch(): Promise<void> {
    return new Promise((done) => {
      const url = new URL("watch", location.href);
      url.protocol = url.protocol.replace("http", "ws");
      url.search = `?since=${next}`;
      const token = sessionStorage.getItem(KEY);
      const socket = new WebSocket(url, token ? ["obep", `obep.bearer.${token}`] : ["obep"]);
      let lot: Found[] = [];
      socket.onopen = () => status("live", true);
      socket.onmessage = (message) => {
        const frame = JSON.parse(message.data) as Frame;
        next = frame.seq;
        if (lot.push(frame.record) === 1)
          queueMicrotask(() => {
            take(lot);
            lot = [];
          });
      };
      socket.onclose = () => done();
    });
  }

  async function forever(): Promise<never> {
    for (;;) {
      try {
        await load();
        await watch();
        status("the connection broke; trying again", false);
      } catch (error) {
        status(said(error), false);
      }
      await wait(1000);
    }
  }
  void forever();
}
