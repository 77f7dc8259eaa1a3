// The page stands by itself; this only shows, hides and copies what is in it. It makes no markup from text and asks
// nothing of any network. What is shown is kept after the `#` of the address, so that a link shares it.
"use strict";
(() => {
  const root = document.documentElement;
  const one = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  root.classList.add("js");

  // ---- What there is: read once from the page.
  const FACETS = ["outcome", "level", "transport", "revision", "baseline"];
  const OUTCOMES = { p: "pass", f: "fail", w: "warn", e: "not-exercised", n: "not-applicable", x: "" };
  const grid = one("grid");
  const heads = all("[data-t]", grid);
  const stretches = all("[scope=colgroup]", grid);
  const buttons = all("[data-facet]");
  const columnsOf = (node) => node.dataset.c.split(" ").map(Number);
  const entries = new Map(all("details.rule").map((node) => [node.id.slice(2), { node, text: node.textContent.toLowerCase() }]));
  // A command names much that has nothing to do with its finding.
  const said = (node) => all("h3, .says, .why, .where, .quote, figcaption, .way-out", node).map((part) => part.textContent);
  const cards = all(".card").map((node) => ({
    node,
    text: said(node).join(" ").toLowerCase(),
    outcome: node.dataset.o,
    levels: node.dataset.l.split(" "),
    parts: all(".case", node).map((part) => ({ node: part, columns: columnsOf(part), state: part.dataset.k })),
  }));
  const reasons = all(".reasons tbody tr").map((node) => ({
    node,
    text: node.textContent.toLowerCase(),
    levels: [node.dataset.l],
    columns: columnsOf(node),
  }));
  const rows = all("tr[data-rule]", grid).map((node) => ({
    node,
    rule: node.dataset.rule,
    levels: node.dataset.l.split(" "),
    cells: [...node.cells].slice(1).map((cell) => ({
      cell,
      outcome: OUTCOMES[cell.classList[0]],
      state: cell.classList.contains("k") ? "known" : "new",
    })),
  }));

  // ---- What is shown.
  const view = { q: "", rule: "", run: "", at: "" };
  for (const facet of FACETS) view[facet] = new Set();
  const admits = (facet, value) => view[facet].size === 0 || view[facet].has(value);
  const runShown = (column) => admits("transport", heads[column].dataset.t) && admits("revision", heads[column].dataset.r);
  const broken = (outcome) => outcome === "fail" || outcome === "warn";
  const stateShown = (outcome, state) => view.baseline.size === 0 || (broken(outcome) && view.baseline.has(state));
  const show = (node, shown) => { node.hidden = !shown; return shown; };
  const nothing = (node, count, total) => {
    const section = node.closest("section");
    const note = section.querySelector(".filtered");
    if (note) note.hidden = count > 0;
    // The heading counts what is shown.
    const heading = section.querySelector("h2 .count");
    heading.dataset.all ??= heading.textContent;
    heading.textContent = count < total ? `${count} of ${total}` : heading.dataset.all;
  };

  function apply() {
    const words = view.q.toLowerCase().split(/\s+/).filter(Boolean);
    const says = (text) => words.every((word) => text.includes(word));
    const columns = heads.map((_, column) => runShown(column));
    const levels = (item) => item.levels.some((level) => admits("level", level));
    let found = 0;
    for (const card of cards) {
      let parts = 0;
      for (const part of card.parts) {
        const here = part.columns.some((column) => columns[column]) && stateShown(card.outcome, part.state);
        parts += show(part.node, here);
      }
      unfold(card);
      found += show(card.node, parts > 0 && admits("outcome", card.outcome) && levels(card) && says(card.text));
    }
    if (cards.length > 0) nothing(cards[0].node, found, cards.length);
    let unexercised = 0;
    for (const item of reasons) {
      const here = admits("outcome", "not-exercised") && view.baseline.size === 0 && item.columns.some((c) => columns[c]);
      unexercised += show(item.node, here && levels(item) && says(item.text));
    }
    if (reasons.length > 0) nothing(reasons[0].node, unexercised, reasons.length);
    const kept = showRows(columns, levels, says);
    showHeads(columns);
    one("status").textContent = `${found} of ${cards.length} findings, ${kept} of ${rows.length} rules`;
    one("clear").hidden = !view.q && FACETS.every((facet) => view[facet].size === 0);
    for (const button of buttons) {
      button.setAttribute("aria-pressed", view[button.dataset.facet].has(button.dataset.value));
    }
    if (one("q").value !== view.q) one("q").value = view.q;
  }

  // Where only what is folded away matches, it is unfolded.
  function unfold(card) {
    for (const more of all(".more", card.node)) {
      const shown = (part) => !part.node.hidden && more.contains(part.node);
      const first = card.parts.some((part) => !part.node.hidden && !more.contains(part.node));
      if (show(more, card.parts.some(shown)) && !first) more.open = true;
    }
  }

  function showRows(columns, levels, says) {
    let kept = 0;
    for (const row of rows) {
      let fits = false;
      row.cells.forEach(({ cell, outcome, state }, column) => {
        cell.hidden = !columns[column];
        fits ||= columns[column] && admits("outcome", outcome) && stateShown(outcome, state);
      });
      const entry = entries.get(row.rule);
      const shown = fits && levels(row) && says(entry.text);
      show(entry.node, shown);
      kept += show(row.node, shown);
    }
    for (const body of grid.tBodies) {
      body.hidden = ![...body.rows].some((row) => row.dataset.rule && !row.hidden);
    }
    nothing(grid, kept, rows.length);
    const first = entries.values().next().value;
    if (first) nothing(first.node, kept, rows.length);
    return kept;
  }

  // A transport's head spans those of its revisions that are shown; the first of them begins the stretch.
  function showHeads(columns) {
    heads.forEach((head, column) => show(head, columns[column]));
    let at = 0;
    for (const stretch of stretches) {
      const its = heads.filter((head) => head.dataset.t === stretch.textContent);
      const shown = columns.slice(at, at + its.length).filter(Boolean).length;
      at += its.length;
      if (show(stretch, shown > 0)) stretch.colSpan = shown;
    }
  }

  // ---- The address.
  function write() {
    const params = new URLSearchParams();
    for (const facet of FACETS) if (view[facet].size > 0) params.set(facet, [...view[facet]].join(","));
    for (const name of ["q", "rule", "run", "at"]) if (view[name]) params.set(name, view[name]);
    const hash = params.toString().replaceAll("%2C", ",");
    try {
      history.replaceState(null, "", `#${hash}`);
    } catch {
      // A page in a sandboxed frame may not name itself; everything else still works.
    }
  }

  function read() {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) return anchor(hash);
    const params = new URLSearchParams(hash);
    for (const facet of FACETS) {
      const known = buttons.filter((button) => button.dataset.facet === facet).map((button) => button.dataset.value);
      view[facet] = new Set((params.get(facet) ?? "").split(",").filter((value) => known.includes(value)));
    }
    for (const name of ["q", "rule", "run", "at"]) view[name] = params.get(name) ?? "";
    apply();
    const column = heads.findIndex((head) => runName(head) === view.run);
    if (entries.has(view.rule)) open(view.rule, column);
    else if (panel.open) panel.close();
    const card = cards.find(({ node }) => node.id === view.at);
    if (card && !card.node.hidden) stand(card.node);
  }

  // A link without the script's words: a rule, or a part of the page.
  function anchor(id) {
    apply();
    if (id.startsWith("r.") && entries.has(id.slice(2))) open(id.slice(2), -1);
  }

  function change(edit) {
    edit();
    view.at = "";
    apply();
    write();
  }

  // ---- The panel: all of one rule, next to the run that was asked for.
  const panel = one("panel");
  const runName = (head) => `${head.dataset.t} ${head.dataset.r}`;

  function open(rule, column) {
    const entry = entries.get(rule).node;
    one("panel-title").textContent = rule;
    const copies = [...entry.children].slice(1).map((child) => child.cloneNode(true));
    one("panel-body").replaceChildren(...copies);
    for (const line of all("[data-c]", one("panel-body"))) {
      line.classList.toggle("here", column >= 0 && columnsOf(line).includes(column));
      line.append(...quotations(rule, line.dataset.c));
    }
    const row = rows.find((row) => row.rule === rule);
    const cell = row.cells[column];
    one("panel-place").textContent = cell ? `${runName(heads[column])}: ${cell.cell.textContent || "no result"}` : "";
    view.rule = rule;
    view.run = cell ? runName(heads[column]) : "";
    if (!panel.open) panel.showModal();
    panel.scrollTop = 0;
    one("panel-close").focus({ preventScroll: true });
    panel.querySelector(".here")?.scrollIntoView({ block: "nearest" });
    write();
  }

  // What is broken is quoted in its card only.
  function quotations(rule, columns) {
    const parts = cards.filter(({ node }) => node.dataset.rule === rule).flatMap((card) => card.parts);
    const part = parts.find(({ node }) => node.dataset.c === columns);
    return part ? all("figure, .again", part.node).map((child) => child.cloneNode(true)) : [];
  }

  function step(by) {
    const shown = rows.filter((row) => !row.node.hidden);
    const at = shown.findIndex((row) => row.rule === view.rule);
    const next = shown[at < 0 ? 0 : at + by];
    if (next) open(next.rule, heads.findIndex((head) => runName(head) === view.run));
  }

  panel.addEventListener("close", () => {
    const link = rows.find((row) => row.rule === view.rule)?.node.querySelector("a");
    view.rule = view.run = "";
    write();
    if (link && document.activeElement === document.body) link.focus({ preventScroll: true });
  });
  panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); });
  one("panel-close").addEventListener("click", () => panel.close());

  // ---- Going from one to the next: the findings, then the rules of the matrix.
  const stops = () => [
    ...cards.filter(({ node }) => !node.hidden).map(({ node }) => node),
    ...rows.filter(({ node }) => !node.hidden).map(({ node }) => node.querySelector("a")),
  ];

  function stand(stop) {
    stop.focus({ preventScroll: true });
    const tall = stop.offsetHeight > innerHeight;
    stop.scrollIntoView({ block: stop.matches(".card") && !tall ? "center" : tall ? "start" : "nearest", inline: "nearest" });
    if (!stop.matches(".card")) keepInSight(stop);
  }

  // Inside its box the matrix scrolls by itself; the box must be in sight too.
  function keepInSight(link) {
    const { top, bottom } = link.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) link.scrollIntoView({ block: "center" });
  }

  function walk(by) {
    const list = stops();
    const at = list.findIndex((stop) => stop.contains(document.activeElement));
    const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by];
    if (!next) return;
    stand(next);
    view.at = next.id;
    write();
  }

  // ---- Copying. Where a page may not use the clipboard, what is to be copied is selected the old way.
  async function copy(button) {
    const code = button.closest(".again").querySelector("code");
    let done = true;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      done = document.execCommand("copy");
    }
    button.textContent = done ? "Copied" : "Selected";
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  }

  // ---- Light and dark.
  const theme = one("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const showTheme = () => { theme.textContent = isDark() ? "Light theme" : "Dark theme"; };
  const remember = (name, value) => { try { localStorage.setItem(name, value); } catch { /* Not here. */ } };
  const recall = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  function turn() {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember("proof-theme", root.dataset.theme);
    showTheme();
  }
  if (["light", "dark"].includes(recall("proof-theme"))) root.dataset.theme = recall("proof-theme");
  dark.addEventListener("change", showTheme);
  theme.addEventListener("click", turn);
  showTheme();

  // ---- Clicks.
  const toggle = (facet, value) => change(() => { if (!view[facet].delete(value)) view[facet].add(value); });
  const clear = () => change(() => { view.q = ""; for (const facet of FACETS) view[facet].clear(); });
  for (const button of buttons) button.addEventListener("click", () => toggle(button.dataset.facet, button.dataset.value));
  one("clear").addEventListener("click", () => { clear(); one("q").focus(); });
  one("q").addEventListener("input", (event) => change(() => { view.q = event.target.value; }));
  document.querySelector(".filters").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    const copying = event.target.closest(".copy");
    if (copying) copy(copying);
    const cell = event.target.closest("#grid td");
    if (cell) open(cell.parentNode.dataset.rule, cell.cellIndex - 1);
    const link = event.target.closest("a[href^='#']");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const id = link.hash.slice(1);
    if (id.startsWith("r.")) return open(id.slice(2), -1);
    goTo(id);
  });

  // A part of the page that is folded away is unfolded first; a card that is filtered away is shown.
  function goTo(id) {
    const part = one(id);
    if (part.hidden) clear();
    const fold = part.closest("details.fold");
    if (fold) fold.open = true;
    part.scrollIntoView();
    part.focus({ preventScroll: true });
  }

  // ---- On a narrow screen the filters are folded away.
  const filters = one("filters");
  if (matchMedia("(max-width: 40rem)").matches) filters.open = false;

  // ---- Keys. Letters can be turned off: they get in the way of speech input.
  const letters = one("keys");
  const help = one("help");
  let lettersOn = true;
  function setLetters(on) {
    lettersOn = on;
    letters.textContent = on ? "Turn letter keys off" : "Turn letter keys on";
  }
  letters.addEventListener("click", () => {
    setLetters(!lettersOn);
    remember("proof-keys", lettersOn);
  });
  if (recall("proof-keys") === "false") setLetters(false);

  function showKeys() {
    help.open = !help.open;
    if (help.open) help.scrollIntoView({ block: "nearest" });
  }

  function letter(key) {
    if (panel.open) return { j: () => step(1), k: () => step(-1) }[key];
    const outcome = buttons.filter((button) => button.dataset.facet === "outcome")[Number(key) - 1];
    if (outcome) return () => outcome.click();
    return {
      "/": () => { filters.open = true; one("q").focus(); one("q").select(); },
      "?": showKeys,
      j: () => walk(1),
      k: () => walk(-1),
      t: turn,
      c: () => document.activeElement.closest(".card")?.querySelector(".case:not([hidden]) .copy")?.click(),
    }[key];
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const typing = event.target === one("q");
    const standing = event.target.closest?.(".card, #grid th a");
    let act;
    if (event.key === "Escape" && !panel.open) act = typing && !view.q ? () => one("q").blur() : clear;
    else if (panel.open && ["ArrowLeft", "ArrowRight"].includes(event.key)) act = () => step(event.key === "ArrowRight" ? 1 : -1);
    else if (typing) act = ["ArrowDown", "Enter"].includes(event.key) ? () => walk(1) : undefined;
    else if (standing && event.key === "ArrowDown") act = () => walk(1);
    else if (standing && event.key === "ArrowUp") act = () => walk(-1);
    else if (event.key === "Enter" && event.target.matches?.(".card")) act = () => open(event.target.dataset.rule, -1);
    else if (lettersOn) act = letter(event.key);
    if (!act) return;
    event.preventDefault();
    act();
  });

  addEventListener("hashchange", read);
  read();
})();
