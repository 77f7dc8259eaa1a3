// The shapes that `proof fleet ui` sends: the contract of `fleet::ui`. Types only; never served.

import type { Problem } from "../contract.js";

/** In the order of `Board::COLUMNS`. */
export type Row = [
  name: string, stage: number, wanted: number | null, gates: string, score: number | null, owner: string, tags: string[], tools: number | null,
  oldest: number | null, marks: string, trend: number[], blocked: string, waivers: number,
];

export interface Run {
  what: string; running: boolean; began: number; ended: number | null; done: number; cancelled: boolean; text: string; failed: boolean;
  last: [server: string, gate: string, outcome: string, summary: string][];
}

export interface FleetState {
  version: string; seq: number; at: number; fleet: string; columns: string[]; stages: { name: string; gates: string[] }[]; gates: string[];
  dashboards: { name: string; filter: string }[]; servers: number; sum: string; left: number; problem: string | null; run: Run | null;
}

export interface Finding { rule: string; level: string; place: string; message: string; fix: string; fails: boolean; waived: boolean }

export interface Gate {
  gate: string; light: string; stage: string | null; summary: string | null; score: number | null; coverage: number | null; at: number | null;
  ms: number | null; findings: Finding[]; more: number; start: string;
}

export interface Waiver { id: number; gate: string; rule: string | null; owner: string; reason: string; until: string; holds: boolean }

export interface Server {
  name: string; owner: string | null; source: string | null; tags: string[]; language: string | null; note: string | null; launch: string;
  stage: string; reached: number; wanted: string | null; fallen_from: string | null;
  hold: { stage: string; by: string; reason: string; at: number } | null; seen: number | null; tools: number;
  gates: Gate[]; waivers: Waiver[]; playbook: string;
  moves: { at: number; from: number; to: number }[];
  results: { at: number; run: number | null; gate: string; outcome: string; score: number | null; summary: string }[];
  notes: { at: number; by: string; text: string }[];
}

export interface Evidence { place: string; facts: [label: string, text: string][]; trace?: string | null }

export type { Problem };
