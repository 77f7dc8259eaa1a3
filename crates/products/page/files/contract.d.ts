// The shapes that `proof inspect` sends and accepts: the contract of the crate `console`. Types only; never served.

export type Row = (string | number | null)[];

export interface Problem { what: string; at?: string; try?: string; position?: number }

export interface Target {
  target: number; label: string; kind: string; state: string; session: number; level: string; subscribed: string[];
  revision: string | null; offered: string[]; era: string | null; server: { name?: string; title?: string; version?: string } | null;
  capabilities: Record<string, any> | null; instructions: string | null; greeting: any; error: Problem | null;
}

export interface Task {
  task: string; session: number; row: number; method: string; name: string; asked: "out" | "in"; seen: number; result: number; status: string;
  message: string; created: string | null; updated: string | null; ttl: number | null; poll: number | null;
}

export interface DiagnosisStep { step: string; outcome: "ok" | "failed" | "skipped"; ms: number; seen: string[]; fix: string | null }

export interface Diagnosis { works: boolean; failed: string | null; steps: DiagnosisStep[] }

export interface GuideStep { step: string; outcome: "ok" | "failed" | "skipped" | null; ms: number; seen: string[]; fix: string | null; rows: number[] }

export interface Guide { session: number; busy: string | null; open: string | null; steps: GuideStep[] }

export interface Session {
  session: number; target: number; transport: string; began: number; ended: number | null; rows: number; judged: boolean; why: string | null;
  /** Whether it holds the messages of an app. */
  app?: boolean;
}

export interface OpenedApp {
  app: string; url: string; session: number; row: number | null; asks: boolean; allowed: boolean;
  domains: { connect: string[]; resource: string[]; refused: string[] };
}

export interface Question {
  question: number; target: number; kind: "form" | "url" | "sampling" | "roots"; at: number;
  message?: string; schema?: any; url?: string; params?: any;
}

export interface ServerState {
  version: string; seq: number; first: number; next: number; columns: string[]; began: number;
  ring: { limit: number; used: number; dropped_rows: number; dropped_bytes: number; failed?: string | null; unwritten?: number };
  targets: Target[]; sessions: Session[]; questions: Question[]; findings: number;
  /** How often a task changed. */
  tasks: number;
  apps?: { app: string; target: number; session: number; blocked: number }[];
  /** Whether apps can be opened. */
  shows_apps?: boolean;
}

export interface Part {
  part: number; frame: number; at: number; done?: number; from?: string; to?: string; type: string; role?: string; title?: string;
  headers?: [string, string][]; text?: string; bytes?: number; cut?: boolean; json?: boolean; base64?: boolean;
}

export interface Finding {
  rule: string; level: string; row: number; part: number; pointer: string | null; why: string; sentence: string; fix: string; url: string;
  session?: number;
}

export interface RowDetail { row: Row; http: boolean; redacted: boolean; left_out?: number; parts: Part[]; findings: Finding[] }

export interface Rows { seq: number; total: number; matched: number; from: number; rows: Row[] }

export interface FeedRows {
  seq: number; rows: Row[]; gone: number[]; matched: number; total: number; first: number; appended: number; moved: boolean; skipped: number;
}

export interface ListAnswer { items: any[]; pages: number; rows: number[]; error: Problem | null }
