// The leaderboard: means with intervals, compared with a baseline that the reader may change.

const INTERVAL_WIDTH = 90;

/** The ends of the axis on which the intervals of a measure are drawn. */
function intervalEnds(measure) {
  const bounds = data.bounds?.[measure]?.flat() ?? [];
  const all = [data.means, data.low, data.high, data.chance].flatMap((each) => each?.[measure] ?? []);
  return extent([...all, ...bounds]) ?? [0, 1];
}

/** The interval as a bar and the mean as a dot; behind them the bounds, and chance as a thin line. */
function interval(measure, run, ends) {
  const x = scale(ends, INTERVAL_WIDTH - 8);
  const at = (value) => (4 + x(value)).toFixed(1);
  const picture = draw("svg", {
    class: "interval",
    width: INTERVAL_WIDTH,
    height: 16,
    "aria-hidden": "true",
    focusable: "false",
  });
  const line = (kind, from, to) => {
    if (known(from) && known(to))
      picture.append(draw("line", { class: kind, x1: at(from), x2: at(to), y1: 8, y2: 8 }));
  };
  line("bounds", ...(data.bounds?.[measure]?.[run] ?? [null, null]));
  line("range", data.low[measure][run], data.high[measure][run]);
  const chance = data.chance?.[measure]?.[run];
  if (known(chance))
    picture.append(draw("line", { class: "chance", x1: at(chance), x2: at(chance), y1: 1, y2: 15 }));
  const mean = data.means[measure][run];
  if (known(mean)) picture.append(draw("circle", { class: "mean", cx: at(mean), cy: 8, r: 3.5 }));
  return picture;
}

/** The columns: their heads, what a cell shows, and the value by which they sort. */
function leaderboardColumns(state) {
  /** @type {Column[]} */
  const columns = [];
  data.measures.forEach((name, measure) => {
    const ends = intervalEnds(measure);
    const corrected = chosen.baseline === null ? null : againstBaseline(measure, chosen.baseline);
    const means = data.means[measure];
    const add = (head, value, cell, more = {}) =>
      columns.push({ key: `${head} ${measure}`, head, group: name, measure, value, cell, first: 1, ...more });
    add(
      "mean",
      (run) => means[run],
      (run) => {
        const sign =
          corrected && run !== chosen.baseline
            ? mark(measure, comparison(measure, run, chosen.baseline).difference, corrected[run])
            : "";
        const meaning = {
          "▲": "better than the baseline",
          "▼": "worse than the baseline",
          "◆": "differs from the baseline",
        }[sign];
        return [
          shown(means[run]),
          make(
            "span",
            { class: `sign ${{ "▲": "up", "▼": "down" }[sign] ?? ""}`, title: meaning },
            make("span", { "aria-hidden": "true" }, sign),
            make("span", { class: "unseen" }, meaning ?? ""),
          ),
        ];
      },
      { first: -direction(measure), kind: "number mean" },
    );
    const low = data.low[measure];
    const high = data.high[measure];
    add(
      "interval",
      null,
      (run) => {
        const text = `${shown(low[run])} to ${shown(high[run])}`;
        return [interval(measure, run, ends), make("span", { class: "unseen" }, text)];
      },
      {
        title: (run) => `${percent(data.level)} interval: ${shown(low[run])} to ${shown(high[run])}`,
        kind: "drawn",
      },
    );
    if (corrected)
      add(
        "p",
        (run) => corrected[run],
        (run) => [run === chosen.baseline ? "baseline" : shownP(corrected[run])],
        { kind: "number" },
      );
    if (!state.more) return;
    const chance = data.chance?.[measure];
    if (chance)
      add(
        "chance",
        (run) => chance[run],
        (run) => [shown(chance[run])],
        { kind: "number", first: -1 },
      );
    const bounds = data.bounds?.[measure];
    if (bounds) {
      add(
        "at least",
        (run) => bounds[run]?.[0],
        (run) => [shown(bounds[run]?.[0])],
        { kind: "number", first: -1 },
      );
      add(
        "at most",
        (run) => bounds[run]?.[1],
        (run) => [shown(bounds[run]?.[1])],
        { kind: "number", first: -1 },
      );
    }
  });
  if (data.judged) {
    columns.push({
      key: "judged",
      head: "judged",
      group: null,
      value: (run) => data.judged[run],
      cell: (run) => [percent(data.judged[run])],
      first: -1,
      kind: "number",
    });
  }
  return columns;
}

/** @type {Column} */
const RUN_COLUMN = {
  key: "run",
  head: "run",
  first: 1,
  value: (run) => data.runs[run],
  compare: (a, b, way) => way * byName(data.runs[a], data.runs[b]),
};

function leaderboard(section) {
  const place = section.querySelector(".place") ?? section.appendChild(make("div", { class: "place" }));
  const state = {
    more: false,
    sort: data.measures.length ? "mean 0" : "run",
    direction: data.measures.length ? -direction(0) : 1,
  };
  const holder = make("div");

  const head = (column, attributes = {}) => sortHead(column, state, redraw, holder, attributes);

  const redraw = () => {
    const columns = leaderboardColumns(state);
    if (state.sort !== "run" && !columns.some(({ key }) => key === state.sort)) {
      state.sort = "mean 0";
      state.direction = -direction(0);
    }
    const groups = data.measures.map((name, measure) => [
      name,
      columns.filter((each) => each.measure === measure).length,
    ]);
    const column = columns.find(({ key }) => key === state.sort) ?? RUN_COLUMN;
    const rows = sortedBy(column, state, data.runs.keys());
    const ruled = settledRules(column, rows);
    const body = rows.map((run, at) =>
      make(
        "tr",
        { class: run === chosen.baseline ? "baseline" : null },
        make("th", { scope: "row" }, cut(data.runs[run])),
        ...columns.map((column) =>
          make(
            "td",
            {
              class: [column.kind, ruled(column, at) ? "settled" : "", column.head === "mean" ? "begin" : ""]
                .join(" ")
                .trim(),
              title: column.title?.(run),
            },
            ...column.cell(run),
            ruled(column, at) ? make("span", { class: "unseen" }, " settled against the next run") : "",
          ),
        ),
      ),
    );
    const table = make(
      "table",
      { class: "board" },
      make(
        "thead",
        {},
        make(
          "tr",
          { class: "groups" },
          make("td", {}),
          ...groups.map(([name, span]) =>
            make("th", { scope: "colgroup", colspan: span, class: "begin" }, cut(name)),
          ),
          data.judged ? make("td", {}) : "",
        ),
        make(
          "tr",
          {},
          head(RUN_COLUMN),
          ...columns.map((column) =>
            head(column, { class: [column.kind, column.head === "mean" ? "begin" : ""].join(" ").trim() }),
          ),
        ),
      ),
      make("tbody", {}, ...body),
    );
    const box = scrolling("Leaderboard", table, runCount > 40 ? "tall" : "");
    const left = holder.firstElementChild?.scrollLeft ?? 0;
    holder.replaceChildren(box);
    if (left) box.scrollLeft = left;
  };

  const options = [["", "none"], ...runOptions()];
  const baseline = choice("Baseline", options, chosen.baseline ?? "", (value) => {
    chosen.baseline = value === "" ? null : Number(value);
    redraw();
    announce(value === "" ? "No baseline." : `Baseline: ${data.runs[chosen.baseline]}.`);
  });
  const more =
    data.chance || data.bounds
      ? tick("Show chance and bounds as numbers", false, (checked) => {
          state.more = checked;
          redraw();
          announce(checked ? "Chance and bounds are shown." : "Chance and bounds are hidden.");
        })
      : "";
  place.replaceChildren(make("div", { class: "controls" }, baseline, more), holder, leaderboardLegend());
  redraw();
}

/** Whether a thick line stands below a mean: the table is sorted by it and the run is settled there. */
function settledRules(column, rows) {
  const settled = column.head === "mean" ? data.settled?.[column.measure] : null;
  if (!settled) return () => false;
  const position = new Map(bestFirst(column.measure).map((run, at) => [run, at]));
  return (each, at) => {
    if (each !== column || at + 1 >= rows.length) return false;
    const [first, second] = [position.get(rows[at]), position.get(rows[at + 1])];
    return Math.abs(first - second) === 1 && settled[Math.min(first, second)] === true;
  };
}

function leaderboardLegend() {
  const sample = (kind, text) => {
    const picture = draw("svg", {
      class: "interval",
      width: 40,
      height: 16,
      viewBox: "-9 0 40 16",
      "aria-hidden": "true",
    });
    if (kind === "mean") picture.append(draw("circle", { class: kind, cx: 11, cy: 8, r: 3.5 }));
    else if (kind === "chance") picture.append(draw("line", { class: kind, x1: 11, x2: 11, y1: 1, y2: 15 }));
    else picture.append(draw("line", { class: kind, x1: 1, x2: 21, y1: 8, y2: 8 }));
    return make("li", {}, picture, make("span", {}, text));
  };
  const sentence = (sign, text) =>
    make(
      "li",
      {},
      make("span", { class: "sample", "aria-hidden": sign === "━" ? "true" : null }, sign),
      make("span", {}, text),
    );
  return make(
    "ul",
    { class: "legend" },
    sample("mean", "mean"),
    sample("range", `${percent(data.level).replace(".0", "")} interval of the mean`),
    data.bounds ? sample("bounds", "the range of the mean over all possible labels of the run's own unjudged documents") : "",
    data.chance ? sample("chance", "the random baseline: the mean of a random order of the judged documents") : "",
    data.pairs
      ? sentence(
          "▲ ▼",
          `better or worse than the baseline, p ≤ ${axisNumber(1 - data.level)} (${data.pairs.test}, ${runCount > 2 ? `${data.pairs.correction}'s correction over the ${runCount - 1} runs compared with the baseline` : "one pair, so no correction"})`,
        )
      : "",
    data.settled?.some((runs) => runs?.includes(true))
      ? sentence("━", "line below the mean: however the unjudged documents are judged, the run stays ahead of the next one")
      : "",
  );
}
