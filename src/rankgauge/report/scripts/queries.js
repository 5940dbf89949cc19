// The queries: a heat map of scores by query and run, and a map of the scores against chance.

const SHADES = 9;
/** How queries of each type are drawn on the map. */
const SHAPES = {
  ideal: "circle",
  "uninformative hard": "triangle",
  "uninformative easy": "diamond",
  other: "square",
  "nothing relevant": "cross",
};

const typeOf = (measure, query) => data.types?.[measure]?.[query] ?? null;

/** The mean of a query's known scores over all runs. */
function queryMean(measure, query) {
  const values = data.values[measure].map((run) => run[query]).filter(known);
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

/** The least score to the greatest one of a query. */
function querySpread(measure, query) {
  const ends = extent(data.values[measure].map((run) => run[query]));
  return ends ? ends[1] - ends[0] : null;
}

/**
 * @param {number} measure
 * @returns {Column[]}
 */
function queryColumns(measure) {
  const cache = data.queries.map((_, query) => [queryMean(measure, query), querySpread(measure, query)]);
  const expected = data.expected?.[measure];
  return [
    {
      key: "query",
      head: "query",
      first: 1,
      value: (query) => data.queries[query],
      compare: (a, b, way) => way * byName(data.queries[a], data.queries[b]),
    },
    { key: "mean", head: "mean", first: 1, value: (query) => cache[query][0] },
    { key: "spread", head: "spread", first: -1, value: (query) => cache[query][1] },
    ...(expected ? [{ key: "chance", head: "chance", first: 1, value: (query) => expected[query] }] : []),
  ];
}

function queriesSection(section) {
  const place = section.querySelector(".place");
  const state = { measure: 0, type: "", filter: "", run: null, sort: "query", direction: 1 };
  const [holder, map, note, typePlace, printed] = [
    make("div"),
    make("div"),
    make("p", { class: "about" }),
    make("div"),
    make("p", { class: "printed" }),
  ];

  const matches = (query) =>
    (!state.type || typeOf(state.measure, query) === state.type) &&
    [data.queries[query], queryText(query) ?? ""].some((text) => text.toLowerCase().includes(state.filter));

  const redraw = () => {
    const { measure } = state;
    const queries = [...data.queries.keys()].filter(matches);
    const columns = queryColumns(measure);
    const column = columns.find(({ key }) => key === state.sort) ?? columns[0];
    const box = heatMap(measure, sortedBy(column, state, queries), columns, (each, attributes) =>
      sortHead(each, state, redraw, holder, attributes),
    );
    const left = holder.firstElementChild?.scrollLeft ?? 0;
    holder.replaceChildren(box);
    if (left) box.scrollLeft = left;
    map.replaceChildren(chanceMap(measure, state.run, queries));
    printed.textContent = `By ${data.measures[measure]}.`;
    note.textContent = `${counted(queries.length, "query")} of ${data.queries.length}.`;
  };
  const changed = () => {
    redraw();
    announce(note.textContent);
  };
  const drawTypes = () => {
    const types = data.types?.[state.measure];
    if (!types) {
      state.type = "";
      typePlace.replaceChildren();
      return;
    }
    const names = [...new Set(types)].filter(Boolean).sort();
    if (!names.includes(state.type)) state.type = "";
    const options = names.map((name) => [name, `${name} (${types.filter((each) => each === name).length})`]);
    typePlace.replaceChildren(
      choice("Type", [["", "all"], ...options], state.type, (value) => {
        state.type = value;
        changed();
      }),
    );
  };

  drawTypes();
  const heatLegend = make(
    "ul",
    { class: "legend" },
    make(
      "li",
      {},
      make(
        "span",
        { class: "swatches", "aria-hidden": "true" },
        ...[1, 3, 5, 7, 9].map((shade) => make("i", { class: `shade-${shade}` })),
      ),
      make(
        "span",
        {},
        "from the lowest score to the highest; runs are sorted by their means, the best first",
      ),
    ),
    make("li", {}, make("span", { class: "sample" }, "○"), make("span", {}, "the score is unknown")),
  );
  place.replaceChildren(
    make(
      "div",
      { class: "controls" },
      measureChoice(0, (measure) => {
        state.measure = measure;
        drawTypes();
        changed();
      }),
      typePlace,
      search(data.queryTexts ? "Queries whose id or text contains" : "Queries whose id contains", (text) => {
        state.filter = text;
        changed();
      }),
    ),
    printed,
    note,
    holder,
    heatLegend,
    data.types
      ? make(
          "p",
          { class: "about" },
          "Chance is the random baseline: the mean of a random order of the judged documents; the spread is the highest score minus the lowest. " +
            "Ideal queries are the quarter on which the runs are furthest above chance, uninformative ones the quarter on which " +
            "they are least above it: easy if their scores are in the upper half of that quarter, hard otherwise.",
        )
      : "",
    runCount > 1
      ? make(
          "p",
          { class: "about hint" },
          "A click or Enter on a cell compares the run with the baseline on this query, or with the best run if there is no baseline.",
        )
      : "",
    make("h3", {}, "Scores against chance"),
    data.expected
      ? make(
          "div",
          { class: "controls" },
          choice("Score of", [["", "all runs (mean)"], ...runOptions()], "", (value) => {
            state.run = value === "" ? null : Number(value);
            changed();
          }),
        )
      : "",
    map,
  );
  redraw();
}

/** The run that a click on a run's cell compares it with. */
function rival(measure, run) {
  const [best, second] = bestFirst(measure);
  if (chosen.baseline !== null && chosen.baseline !== run) return chosen.baseline;
  return run === best ? second : best;
}

/** A row for each query and a cell for each run, darker for higher scores. */
function heatMap(measure, queries, columns, head) {
  const runs = bestFirst(measure);
  const ends = extent(data.values[measure].flat()) ?? [0, 1];
  const share = scale(ends, 1);
  const cell = (query, run) => {
    const value = data.values[measure][run][query];
    const kind = known(value) ? `shade-${level(share(value), SHADES)}` : "missing";
    return make(
      "td",
      {
        class: kind,
        "data-item": true,
        "data-run": run,
        "data-query": query,
        tabindex: "-1",
        "aria-label": `${data.runs[run]}, query ${data.queries[query]}: ${shown(value)}`,
      },
      known(value) ? "" : "○",
    );
  };
  const [name, ...numbers] = columns;
  const rows = queries.map((query) =>
    make(
      "tr",
      {},
      make("th", { scope: "row", title: queryText(query) }, cut(data.queries[query])),
      data.queryTexts ? make("td", { class: "text" }, queryText(query) ? cut(queryText(query)) : "") : "",
      data.types?.[measure] ? make("td", { class: "type" }, typeOf(measure, query) ?? "") : "",
      ...numbers.map((column) => make("td", { class: "number" }, shown(column.value(query)))),
      ...runs.map((run) => cell(query, run)),
    ),
  );
  const box = scrolling(
    "Scores by query and run",
    make(
      "table",
      { class: "heat", role: "grid", "aria-label": `${data.measures[measure]} by query and run` },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          head(name),
          data.queryTexts ? make("th", { scope: "col", class: "text" }, "text") : "",
          data.types?.[measure] ? make("th", { scope: "col", class: "type" }, "type") : "",
          ...numbers.map((column) => head(column, { class: "number" })),
          ...runs.map((run) =>
            make(
              "th",
              { scope: "col", class: "turned", title: data.runs[run] },
              make("span", {}, data.runs[run]),
            ),
          ),
        ),
      ),
      make("tbody", {}, ...rows),
    ),
    "tall",
  );
  navigable(
    box,
    () => [...box.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("[data-item]")]),
    (item) => {
      const run = Number(item.dataset.run);
      if (runCount > 1) openPair(measure, run, rival(measure, run), Number(item.dataset.query), true);
    },
  );
  return box;
}

/** A mark of a shape around a point. */
function pointMark(shape, x, y) {
  const r = 5;
  const path = {
    square: `M${x - r + 1},${y - r + 1}h${2 * r - 2}v${2 * r - 2}h${2 - 2 * r}z`,
    triangle: `M${x},${y - r}L${x + r},${y + r - 1}L${x - r},${y + r - 1}z`,
    diamond: `M${x},${y - r}L${x + r},${y}L${x},${y + r}L${x - r},${y}z`,
    cross: `M${x - r + 1},${y - r + 1}L${x + r - 1},${y + r - 1}M${x - r + 1},${y + r - 1}L${x + r - 1},${y - r + 1}`,
  }[shape];
  return path
    ? draw("path", { class: `mark ${shape}`, d: path })
    : draw("circle", { class: `mark ${shape}`, cx: x, cy: y, r: r - 1 });
}

/** Each query as a point: chance from left to right, the score upwards, equality as a line. */
function chanceMap(measure, run, queries) {
  const expected = data.expected?.[measure];
  if (!expected || !extent(expected))
    return make("p", {}, `Chance is unknown for ${data.measures[measure]}.`);
  const score = (query) => (run === null ? queryMean(measure, query) : data.values[measure][run][query]);
  const points = queries.filter((query) => known(expected[query]) && known(score(query)));
  points.sort((a, b) => expected[a] - expected[b] || a - b);
  const all = [...data.queries.keys()];
  const [xEnds, yEnds] = [
    extent([0, ...expected]),
    extent([0, ...all.map((query) => score(query) ?? 0)]),
  ].map(([least, greatest]) => [least, greatest > least ? greatest : least + 1]);
  const [left, top, width, height] = [56, 10, 520, 300];
  const x = (value) => left + scale(xEnds, width)(value);
  const y = (value) => top + height - scale(yEnds, height)(value);
  const who = run === null ? "mean of all runs" : data.runs[run];
  const size = [left + width + 16, top + height + 52];
  const chart = draw("svg", {
    class: "map",
    width: size[0],
    height: size[1],
    viewBox: `0 0 ${size[0]} ${size[1]}`,
    role: "group",
    "aria-label": `Scores against chance by query, ${who}`,
  });
  for (const value of ticks(xEnds, 5)) {
    chart.append(
      draw("line", { class: "gridline", x1: x(value), x2: x(value), y1: top, y2: top + height }),
      draw("text", { x: x(value), y: top + height + 20, "text-anchor": "middle" }, axisNumber(value)),
    );
  }
  for (const value of ticks(yEnds, 5)) {
    chart.append(
      draw("line", { class: "gridline", x1: left, x2: left + width, y1: y(value), y2: y(value) }),
      draw(
        "text",
        { x: left - 8, y: y(value), "text-anchor": "end", "dominant-baseline": "middle" },
        axisNumber(value),
      ),
    );
  }
  const [from, to] = [Math.max(xEnds[0], yEnds[0]), Math.min(xEnds[1], yEnds[1])];
  if (from < to)
    chart.append(draw("line", { class: "equal", x1: x(from), y1: y(from), x2: x(to), y2: y(to) }));
  chart.append(
    draw(
      "text",
      { x: left + width / 2, y: top + height + 44, "text-anchor": "middle" },
      "chance →",
    ),
  );
  const types = [...new Set(data.types?.[measure] ?? [])].filter(Boolean).sort();
  const shapeOf = (type) => SHAPES[type] ?? "circle";
  for (const query of points) {
    const type = typeOf(measure, query);
    const text = [`Query ${data.queries[query]}`, type].filter(Boolean).join(", ");
    chart.append(
      draw(
        "g",
        {
          role: "img",
          tabindex: "-1",
          "data-item": true,
          "data-query": query,
          "aria-label": `${text}\nscore ${shown(score(query))}, chance ${shown(expected[query])}`,
        },
        pointMark(shapeOf(type), x(expected[query]), y(score(query))),
      ),
    );
  }
  navigable(chart, () => [[...chart.querySelectorAll("[data-item]")]]);
  const sample = (shape) =>
    draw(
      "svg",
      { class: "map", width: 40, height: 16, viewBox: "-20 -8 40 16", "aria-hidden": "true" },
      pointMark(shape, 0, 0),
    );
  const legend = make(
    "ul",
    { class: "legend" },
    ...types.map((type) => make("li", {}, sample(shapeOf(type)), make("span", {}, type))),
    make(
      "li",
      {},
      draw(
        "svg",
        { class: "map", width: 40, height: 16, "aria-hidden": "true" },
        draw("line", { class: "equal", x1: 6, y1: 14, x2: 34, y2: 2 }),
      ),
      make("span", {}, "as good as chance"),
    ),
  );
  return make(
    "figure",
    {},
    make("p", { class: "about" }, `↑ ${data.measures[measure]}, ${who}`),
    make("div", { class: "scroll" }, chart),
    legend,
  );
}
