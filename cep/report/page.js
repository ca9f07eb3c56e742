"use strict";
// Charts of the report. Times are ms from the chart's start; the page's tables need none of this.
const KINDS = { event: "Simple events", complex: "Complex events", signal: "Signals", fill: "Fills" };
const MARGIN = { left: 12, right: 112, top: 8, bottom: 26 };
const FILTERED_ROWS = 8, PRICE_HEIGHT = 380, LANE_HEIGHT = 20, LANES_MAX = 16, SNAP_PX = 9, QUEUE_ROWS = 40;
const STEPS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5,
  9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5, 864e5, 1728e5, 6048e5, 12096e5, 2592e6, 7776e6, 31536e6];

function svg(name, attributes = {}, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

function html(name, className, text = "", attributes = {}) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** Index of the first value greater than x in an ascending array. */
function after(values, x) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= x) low = middle + 1; else high = middle;
  }
  return low;
}

function niceStep(span, count) {
  const rough = span / count, power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map(n => n * power).find(step => step >= rough);
}

function timeText(msc, step = 1) {
  const iso = new Date(msc).toISOString();
  if (step >= 864e5) return iso.slice(0, 10);
  return iso.slice(11, step >= 6e4 ? 16 : step >= 1e3 ? 19 : 23);
}

function moment(msc) { return new Date(msc).toISOString().replace("T", " ").slice(0, 23); }

function markPath(marker, x, y, r) {
  if (marker.kind === "complex") return `M${x} ${y - r - 1}l${r + 1} ${r + 1}l${-r - 1} ${r + 1}l${-r - 1} ${-r - 1}z`;
  if (marker.kind === "fill") return `M${x - r + 1} ${y - r + 1}h${2 * r - 2}v${2 * r - 2}h${2 - 2 * r}z`;
  if (marker.kind === "signal" && marker.side === "buy") return `M${x} ${y - r - 1}l${r + 2} ${2 * r + 1}h${-2 * r - 4}z`;
  if (marker.kind === "signal" && marker.side === "sell") return `M${x} ${y + r + 1}l${r + 2} ${-2 * r - 1}h${-2 * r - 4}z`;
  if (marker.kind === "signal") return `M${x - r} ${y - 2}h${2 * r}v4h${-2 * r}z`;
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}

class Chart {
  constructor(data, panel) {
    this.data = data;
    this.hidden = new Set();
    this.byId = new Map(data.markers.filter(m => m.id).map(m => [m.id, m]));
    this.ends = this.extent();
    this.view = this.ends;
    this.lanes = [...new Set(data.markers.map(m => m.label))].slice(0, LANES_MAX);
    this.queues = html("div", "queues");
    panel.append(this.legend(), this.plot(), html("p", "hint", this.hint()), this.queues);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.root);
  }

  extent() {
    const times = this.data.markers.map(m => m.t);
    for (const { t } of this.data.series) if (t.length) times.push(t[0], t[t.length - 1]);
    const low = times.reduce((a, b) => Math.min(a, b), 0), high = times.reduce((a, b) => Math.max(a, b), 1);
    return [low, high];
  }

  hint() {
    const cut = Object.keys(KINDS).filter(kind => this.data.totals[kind] > this.count(kind))
      .map(kind => ` ${KINDS[kind]}: the latest ${this.count(kind)} of ${this.data.totals[kind]} are drawn.`);
    const queues = this.data.queues.length ? " Click to see the event queue of a moment." : "";
    return "Times are UTC. Drag to zoom, double-click to see all; with the keyboard: + and −, arrows, 0." + queues + cut.join("");
  }

  count(kind) { return this.data.markers.filter(m => m.kind === kind).length; }

  legend() {
    const legend = html("div", "legend");
    for (const kind of Object.keys(KINDS).filter(k => this.count(k))) {
      const button = html("button", "", "", { type: "button", "aria-pressed": "true" });
      const icon = svg("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" });
      icon.append(svg("path", { class: `mark ${kind} ${kind === "signal" ? "buy" : ""}`, d: markPath({ kind, side: "buy" }, 0, 0, 5) }));
      button.append(icon, `${KINDS[kind]} (${this.data.totals[kind].toLocaleString("en")})`);
      button.onclick = () => this.toggle(kind, button);
      legend.append(button);
    }
    for (const { name, role } of this.data.series.filter(s => ["steps", "second"].includes(s.role))) {
      const label = html("span", "name"), icon = svg("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" });
      icon.append(svg("path", { class: `swatch ${role}`, d: "M-8 0H8" }));
      label.append(icon, name);
      legend.append(label);
    }
    this.reset = html("button", "reset", "Reset zoom", { type: "button" });
    this.reset.onclick = () => this.show(this.ends);
    legend.append(this.reset);
    return legend;
  }

  toggle(kind, button) {
    if (!this.hidden.delete(kind)) this.hidden.add(kind);
    button.setAttribute("aria-pressed", String(!this.hidden.has(kind)));
    this.draw();
  }

  plot() {
    const counts = Object.keys(KINDS).map(k => `${this.data.totals[k]} ${KINDS[k].toLowerCase()}`).join(", ");
    this.root = html("div", "plot", "", { tabindex: "0", role: "group", "aria-label": `${this.data.symbol}: price chart with ${counts}` });
    this.priceHeight = this.data.series.length ? PRICE_HEIGHT : 0;
    this.height = MARGIN.top + this.priceHeight + this.lanes.length * LANE_HEIGHT + MARGIN.bottom;
    this.canvas = svg("svg", { height: this.height, "aria-hidden": "true" });
    this.tip = html("div", "tip", "", { hidden: "" });
    this.root.append(this.canvas, this.tip);
    return this.root;
  }

  show([from, to]) {
    const [low, high] = this.ends, width = Math.min(Math.max(to - from, 2), high - low);
    const start = Math.min(Math.max(from, low), high - width);
    this.view = [start, start + width];
    this.reset.disabled = width >= high - low;
    this.draw();
  }

  /** Show the minutes around a moment (ms UTC). */
  focus(msc) {
    const half = Math.min((this.ends[1] - this.ends[0]) / 2, 10 * 6e4), t = msc - this.data.start;
    this.show([t - half, t + half]);
    this.hover(this.x(t));
    this.showQueues(t);
  }

  /** What stood in each engine's queue at a moment, newest first, with what it was bound to by then. */
  showQueues(t) {
    this.queues.replaceChildren(...this.data.queues.flatMap(queue => {
      const held = queue.stays.filter(([, , , , entered, left]) => entered <= t && t < left).reverse(), shown = held.slice(0, QUEUE_ROWS);
      const counted = shown.length < held.length ? `the newest ${shown.length} of ${held.length} queued` : `${held.length} queued`;
      const early = queue.known !== null && t - queue.span < queue.known;
      const note = counted + (early ? `; of events before ${moment(queue.known + this.data.start)} nothing is kept` : "");
      return [html("h3", "", `Event queue: ${queue.engine}, ${moment(t + this.data.start)}`), html("span", "note", note), ...(shown.length ? [this.queueTable(shown, t)] : [])];
    }));
  }

  queueTable(stays, t) {
    const bound = stays.map(stay => stay[6].filter(([, when]) => when <= t).map(([name]) => name));
    const binds = Math.max(1, ...bound.map(names => names.length)), row = (kind, cells) => {
      const made = html("tr", "");
      made.append(...cells.map(cell => html(kind, "", String(cell))));
      return made;
    };
    const table = html("table", ""), body = html("tbody", "");
    const heads = ["Number", "Event", "Key", "Time (UTC)", ...Array.from({ length: binds }, (_, i) => `Bind ${i + 1}`)];
    body.append(...stays.map(([number, event, key, time], i) => row("td", [number, event, key, moment(time + this.data.start), ...Array.from({ length: binds }, (_, n) => bound[i][n] ?? "")])));
    table.append(html("thead", ""), body);
    table.tHead.append(row("th", heads));
    const scroll = html("div", "scroll", "", { tabindex: "0", role: "region", "aria-label": "Event queue" });
    scroll.append(table);
    return scroll;
  }

  x(t) { return MARGIN.left + (t - this.view[0]) / (this.view[1] - this.view[0]) * this.inner; }
  time(x) { return this.view[0] + (x - MARGIN.left) / this.inner * (this.view[1] - this.view[0]); }
  y(v) { return MARGIN.top + (this.high - v) / (this.high - this.low) * this.priceHeight; }
  visible() { return this.data.markers.filter(m => !this.hidden.has(m.kind) && m.t >= this.view[0] && m.t <= this.view[1]); }

  draw() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    this.inner = this.width - MARGIN.left - MARGIN.right;
    this.reset.disabled = this.view[1] - this.view[0] >= this.ends[1] - this.ends[0];
    this.scale();
    this.canvas.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.overlay = svg("g");
    this.canvas.replaceChildren(...this.grid(), ...this.lines(), ...this.laneRows(), ...this.marks(), this.overlay);
    this.tip.hidden = true;
  }

  scale() {
    let low = Infinity, high = -Infinity;
    const see = v => { if (v != null) { low = Math.min(low, v); high = Math.max(high, v); } };
    for (const { t, v } of this.data.series)
      for (let i = Math.max(after(t, this.view[0]) - 1, 0); i < t.length && t[i] <= this.view[1]; i++) see(v[i]);
    this.visible().forEach(m => see(m.p));
    if (low > high) [low, high] = [0, 1];
    const pad = (high - low) * 0.06 || Math.abs(high) * 1e-4 || 1;
    this.low = low - pad;
    this.high = high + pad;
  }

  grid() {
    const right = MARGIN.left + this.inner, bottom = this.height - MARGIN.bottom, made = [];
    const step = niceStep(this.high - this.low, 6);
    for (let v = Math.ceil(this.low / step) * step; this.priceHeight && v < this.high; v += step) {
      made.push(svg("line", { class: "grid", x1: MARGIN.left, x2: right, y1: this.y(v), y2: this.y(v) }));
      made.push(svg("text", { x: right + 8, y: this.y(v) + 4 }, v.toFixed(this.data.digits)));
    }
    const span = this.view[1] - this.view[0], { start } = this.data;
    const tick = STEPS_MS.find(s => span / s <= this.inner / 105) || STEPS_MS[STEPS_MS.length - 1];
    let day = "";
    for (let t = Math.ceil((this.view[0] + start) / tick) * tick - start; t <= this.view[1]; t += tick) {
      const date = new Date(t + start).toISOString().slice(0, 10), x = this.x(t);
      const text = tick < 864e5 && date !== day ? `${date.slice(5)} ${timeText(t + start, tick)}` : timeText(t + start, tick);
      day = date;
      const anchor = x < 60 ? "start" : x > right - 45 ? "end" : "middle";
      made.push(svg("line", { class: "grid", x1: x, x2: x, y1: MARGIN.top, y2: bottom }));
      made.push(svg("text", { x: Math.max(x, MARGIN.left), y: this.height - 8, "text-anchor": anchor }, text));
    }
    return made;
  }

  points({ t, v }) {
    const from = Math.max(after(t, this.view[0]) - 1, 0), to = Math.min(after(t, this.view[1]) + 1, t.length), made = [];
    for (let i = from; i < to; i++) made.push(v[i] == null ? null : `${this.x(t[i]).toFixed(1)} ${this.y(v[i]).toFixed(1)}`);
    return made;
  }

  lines() {
    const id = `clip-${this.data.symbol.replace(/\W/g, "_")}`, clip = svg("clipPath", { id });
    clip.append(svg("rect", { x: MARGIN.left, y: MARGIN.top, width: this.inner, height: this.priceHeight }));
    const group = svg("g", { "clip-path": `url(#${id})` }), of = role => this.data.series.filter(s => s.role === role);
    of("upper").forEach((upper, i) => {
      const lower = of("lower")[i];
      if (!lower) return;
      const edge = [...this.points(upper).filter(Boolean), ...this.points(lower).filter(Boolean).reverse()];
      if (edge.length) group.append(svg("path", { class: "area", d: `M${edge.join("L")}z` }));
    });
    for (const role of ["upper", "lower", "middle", "price", "steps", "second"]) for (const series of of(role)) {
      let pen = "M";
      const on = role === "steps" || role === "second" ? p => `H${p.replace(" ", "V")}` : p => `L${p}`;
      const d = this.points(series).map(p => { const s = p && (pen ? pen + p : on(p)); pen = p ? "" : "M"; return s || ""; }).join("");
      group.append(svg("path", { class: `line ${role}`, d }));
    }
    return [clip, group];
  }

  laneY(label) {
    const lane = this.lanes.indexOf(label);
    return lane < 0 ? null : MARGIN.top + this.priceHeight + (lane + 0.5) * LANE_HEIGHT;
  }

  laneRows() {
    return this.lanes.flatMap(label => {
      const y = this.laneY(label), right = MARGIN.left + this.inner;
      const name = label.length > 15 ? `${label.slice(0, 14)}…` : label;
      const text = svg("text", { class: "lane-name", x: right + 8, y: y + 4 }, name);
      text.append(svg("title", {}, label));
      return [svg("line", { class: "axis", x1: MARGIN.left, x2: right, y1: y - LANE_HEIGHT / 2, y2: y - LANE_HEIGHT / 2 }), text];
    });
  }

  place(marker) {
    const lift = { buy: 11, sell: -11 }[marker.kind === "signal" && marker.side] || 0;
    return [this.x(marker.t), marker.p == null || !this.priceHeight ? null : this.y(marker.p) + lift];
  }

  marks() {
    const order = Object.keys(KINDS), seen = this.visible(), dot = seen.length > 300 ? 2.5 : 3.5;
    const sorted = seen.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
    return sorted.flatMap(marker => {
      const [x, y] = this.place(marker), lane = this.laneY(marker.label), radius = marker.kind === "event" ? dot : 5;
      const draw = (at, r) => svg("path", { class: `mark ${marker.kind} ${marker.side || ""}`, d: markPath(marker, x, at, r), "data-label": marker.label });
      return [y == null ? null : draw(y, radius), lane == null ? null : draw(lane, 4)].filter(Boolean);
    });
  }

  near(x) {
    const found = this.visible().map(m => [Math.abs(this.x(m.t) - x), m]).filter(([gap]) => gap <= SNAP_PX);
    const rank = m => (m.parts ? 0 : 1);
    return found.sort((a, b) => a[0] - b[0] || rank(a[1]) - rank(b[1])).slice(0, 6).map(([, m]) => m);
  }

  hover(x) {
    const right = MARGIN.left + this.inner;
    if (x < MARGIN.left || x > right) return this.leave();
    const near = this.near(x), t = near.length ? near[0].t : this.time(x), at = this.x(t);
    this.overlay.replaceChildren(svg("line", { class: "crosshair", x1: at, x2: at, y1: MARGIN.top, y2: this.height - MARGIN.bottom }));
    near.filter(m => m.parts).forEach(m => this.bindings(m));
    this.tip.replaceChildren(html("b", "", timeText(t + this.data.start)), ...this.values(t), ...near.map(m => this.line(m)));
    this.tip.hidden = false;
    const width = this.tip.offsetWidth;
    this.tip.style.left = `${at + 14 + width > this.width ? Math.max(at - 14 - width, 0) : at + 14}px`;
    this.tip.style.top = `${MARGIN.top + 6}px`;
  }

  values(t) {
    return this.data.series.map(series => {
      const value = series.v[after(series.t, t) - 1];
      return value == null ? "" : html("div", "", `${series.name} ${value.toFixed(this.data.digits)}`);
    }).filter(Boolean);
  }

  line(marker) {
    const words = [marker.label, marker.side && marker.side.toUpperCase(), marker.detail].filter(Boolean);
    return html("div", "", `${KINDS[marker.kind].replace(/s$/, "")}: ${words.join(" · ")}`);
  }

  bindings(marker) {
    const bound = [...marker.parts.map(id => this.byId.get(id)).filter(Boolean), marker];
    const places = bound.map(m => this.place(m)).filter(([, y]) => y != null);
    if (places.length > 1) this.overlay.append(svg("path", { class: "binding", d: `M${places.map(p => p.join(" ")).join("L")}` }));
    for (const [x, y] of places) this.overlay.append(svg("circle", { class: "bound", cx: x, cy: y, r: 8 }));
    for (const m of bound) if (this.laneY(m.label) != null)
      this.overlay.append(svg("circle", { class: "bound", cx: this.x(m.t), cy: this.laneY(m.label), r: 7 }));
  }

  /** A click: what is there, and the queues of that moment. */
  pick(x) {
    this.hover(x);
    const [nearest] = this.near(x);
    this.showQueues(nearest ? nearest.t : this.time(x));
  }

  leave() { this.overlay.replaceChildren(); this.tip.hidden = true; }

  listen() {
    let from = null;
    const at = event => event.clientX - this.root.getBoundingClientRect().left;
    this.canvas.onpointerdown = event => { if (event.button === 0) { from = at(event); this.canvas.setPointerCapture(event.pointerId); } };
    this.canvas.onpointermove = event => { from === null ? this.hover(at(event)) : this.select(from, at(event)); };
    this.canvas.onpointerup = event => {
      const to = at(event), [a, b] = [from ?? to, to].sort((p, q) => p - q);
      from = null;
      if (b - a > 5) this.show([this.time(a), this.time(b)]); else this.pick(to);
    };
    this.canvas.onpointercancel = () => { from = null; this.leave(); };
    this.canvas.onpointerleave = () => { if (from === null) this.leave(); };
    this.canvas.ondblclick = () => this.show(this.ends);
    this.root.onkeydown = event => this.key(event);
  }

  select(a, b) {
    const x = Math.max(Math.min(a, b), MARGIN.left), width = Math.min(Math.max(a, b), MARGIN.left + this.inner) - x;
    this.tip.hidden = true;
    this.overlay.replaceChildren(svg("rect", { class: "selection", x, y: MARGIN.top, width: Math.max(width, 0), height: this.height - MARGIN.top - MARGIN.bottom }));
  }

  key(event) {
    const [from, to] = this.view, span = to - from;
    const views = { "+": [from + span / 4, to - span / 4], "=": [from + span / 4, to - span / 4], "-": [from - span / 2, to + span / 2],
      ArrowLeft: [from - span / 4, to - span / 4], ArrowRight: [from + span / 4, to + span / 4], 0: this.ends, Escape: this.ends };
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in views)) return;
    event.preventDefault();
    this.show(views[event.key]);
  }
}

function selectTab(tabs, symbol) {
  for (const { button, panel, chart } of tabs) {
    const on = chart.data.symbol === symbol;
    button.setAttribute("aria-selected", String(on));
    button.tabIndex = on ? 0 : -1;
    panel.hidden = !on;
    if (on) chart.draw();
  }
}

function makeTab(data, i) {
  const button = html("button", "", data.symbol, { type: "button", role: "tab", id: `tab-${i}`, "aria-controls": `panel-${i}` });
  const panel = html("div", "", "", { role: "tabpanel", id: `panel-${i}`, "aria-labelledby": `tab-${i}` });
  return { button, panel, chart: new Chart(data, panel) };
}

function start(charts) {
  const root = document.getElementById("charts");
  if (!root) return;
  root.hidden = false;
  const bar = html("div", "tabs", "", { role: "tablist", "aria-label": "Symbols" }), tabs = charts.map(makeTab);
  bar.append(...tabs.map(tab => tab.button));
  root.append(bar, ...tabs.map(tab => tab.panel));
  for (const { button, chart } of tabs) button.onclick = () => selectTab(tabs, chart.data.symbol);
  bar.onkeydown = event => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], now = tabs.findIndex(tab => tab.button.tabIndex === 0);
    if (!step) return;
    const next = tabs[(now + step + tabs.length) % tabs.length];
    selectTab(tabs, next.chart.data.symbol);
    next.button.focus();
  };
  document.addEventListener("click", event => {
    const link = event.target.closest(".goto"), tab = link && tabs.find(({ chart }) => chart.data.symbol === link.dataset.symbol);
    if (!tab) return;
    selectTab(tabs, tab.chart.data.symbol);
    root.scrollIntoView({ block: "start" });
    tab.chart.focus(Number(link.dataset.time));
  });
  selectTab(tabs, charts[0].symbol);
}

/** What a cell is sorted by: a number where it is one. Times sort as they are written. */
function worth(cell) {
  const text = cell.textContent.trim(), value = Number(text.replace(/[,%\s]/g, ""));
  return text && Number.isFinite(value) ? value : text;
}

function compare(a, b) {
  if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b, "en");
  return typeof a === "number" ? -1 : 1;
}

/** Let each heading of a table sort its rows, the other way round at the second click. */
function makeSortable(table) {
  const heads = [...table.querySelectorAll("th")], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = html("button", "sort", head.textContent, { type: "button" });
    head.replaceChildren(button);
    button.onclick = () => {
      const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
      const rows = [...body.rows].map(row => [worth(row.cells[column]), row]);
      body.append(...rows.sort((a, b) => way * compare(a[0], b[0])).map(([, row]) => row));
    };
  });
}

/** Show those rows of a table that have all the words in them. */
function makeFilter(card, table) {
  const title = card.querySelector("h2").textContent, note = card.querySelector(".note"), all = note.textContent;
  const input = html("input", "filter", "", { type: "search", placeholder: "Filter", "aria-label": `Filter ${title}` });
  input.oninput = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const cells = [...row.cells].map(cell => cell.textContent).join(" ").toLowerCase();
      row.hidden = !words.every(word => cells.includes(word));
      shown += !row.hidden;
    }
    note.textContent = words.length ? `${shown.toLocaleString("en")} of ${all}` : all;
  };
  card.querySelector(".scroll").before(input);
}

for (const card of document.querySelectorAll(".card")) {
  const table = card.querySelector("table"), rows = table ? table.tBodies[0].rows.length : 0;
  if (rows > 1 && table.querySelectorAll("th").length > 1) makeSortable(table);
  if (rows >= FILTERED_ROWS) makeFilter(card, table);
}

start(JSON.parse(document.getElementById("data").textContent));
