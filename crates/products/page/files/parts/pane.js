// Small things that every view uses: buttons with their keys, notes where there is nothing, the row that a request became.

import { html, useEffect, useMemo, useState } from "../html.js";
import { problemOf, nextRound, readRow, resultOf, store } from "../actions.js";
import { COLUMN } from "../rows.js";

export { Button, ProblemNote } from "./button.js";

/** The state of the page, and a new rendering when it changes. @returns {import("../state.js").State} */
export function useStore() {
  const [state, setState] = useState(store.state);
  useEffect(() => {
    setState(store.state);
    return store.subscribe(() => setState(store.state));
  }, []);
  return state;
}

/**
 * A row with its messages, read again while it is pending.
 * @param {number} n
 * @param {string} [version] changes when the row is known to have changed
 * @returns {{ detail: import("../contract.js").RowDetail | null, problem: import("../contract.js").Problem | null }}
 */
export function useRow(n, version = "") {
  const [found, setFound] = useState(/** @type {{ n: number, detail: any, problem: any }} */ ({ n: 0, detail: null, problem: null }));
  useEffect(() => {
    if (!n) return;
    const abort = new AbortController();
    let timer = 0;
    const read = async (/** @type {number} */ wait) => {
      try {
        const detail = await readRow(n, abort.signal);
        setFound({ n, detail, problem: null });
        if (detail.row[COLUMN.status] === "pending") timer = window.setTimeout(() => void read(Math.min(500, wait * 2)), wait);
      } catch (error) {
        if (!abort.signal.aborted) setFound({ n, detail: null, problem: problemOf(error) });
      }
    };
    void read(50);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [n, version]);
  return found.n === n ? found : { detail: null, problem: null };
}

/**
 * The answer in a row, once for each reading of it.
 * @param {import("../contract.js").RowDetail | null} detail
 * @returns {{ result: any, error: any }}
 */
export const useAnswer = (detail) => useMemo(() => (detail ? resultOf(detail) : { result: undefined, error: undefined }), [detail]);

/**
 * The row in which a request ended: that of its last round.
 * @param {number} n
 */
export function useLastRound(n) {
  const [round, setRound] = useState({ n, at: n });
  const at = round.n === n ? round.at : n;
  const { detail, problem } = useRow(at);
  const { result, error } = useAnswer(detail);
  const asks = result?.resultType === "input_required";
  useEffect(() => {
    if (!asks || !detail) return;
    let stopped = false;
    const look = async () => {
      const next = await nextRound(detail).catch(() => 0);
      if (stopped) return;
      if (next > 0) setRound({ n, at: next });
      else timer = window.setTimeout(look, 400);
    };
    let timer = window.setTimeout(look, 50);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [asks, detail]);
  return { at, detail, problem, result, error, asks };
}

/** A link to a row in the traffic. @param {{ n: number }} props */
export function RowLink({ n }) {
  return html`<button type="button" class="link" onClick=${() => store.dispatch({ type: "go", view: "traffic", q: "", at: n })}>row ${n}</button>`;
}
