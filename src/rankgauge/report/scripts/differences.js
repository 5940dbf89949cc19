// The differences: a matrix of all pairs of runs, a pair query by query, and a query by its two rankings.

const MOST_RUNS = 40;
const LEVELS = 4;

/** The class of a heat color: up for better, down for worse, stronger for larger differences. */
function heat(measure, difference, largest) {
  if (!known(difference) || difference === 0 || !(largest > 0)) return "even";
  const side = difference * direction(measure) > 0 ? "up" : "down";
  return `${side}-${level(Math.abs(difference) / largest, LEVELS)}`;
}

/** A sentence on two runs by a measure. */
function pairSentence(measure, i, j) {
  const found = comparison(measure, i, j);
  const parts = [`${data.runs[i]} − ${data.runs[j]}: ${signed(found.difference)}`];
  if (known(found.corrected)) parts.push(`corrected p ${shownP(found.corrected)}`);
  if (known(found.wins))
    parts.push(
      `better on ${found.wins}, worse on ${found.losses} of ${counted(known(found.ties) ? found.wins + found.ties + found.losses : data.queries.length, "query")}`,
    );
  return parts.join("\n");
}

/** The cells of the matrix: row minus column. */
function matrixTable(measure, runs) {
  const ranks = new Map(bestFirst(measure).map((run, at) => [run, at + 1]));
  const pairs = runs.flatMap((i) =>
    runs.filter((j) => j !== i).map((j) => comparison(measure, i, j).difference),
  );
  const [least, greatest] = extent(pairs) ?? [0, 0];
  const largest = Math.max(-least, greatest);
  const cell = (i, j) => {
    if (i === j) {
      return make("td", {
        class: "same",
        "data-item": true,
        "data-first": i,
        "data-second": j,
        tabindex: "-1",
        "aria-label": `${data.runs[i]} itself`,
      });
    }
    const { difference, corrected } = comparison(measure, i, j);
    return make(
      "td",
      {
        class: heat(measure, difference, largest),
        "data-item": true,
        "data-first": i,
        "data-second": j,
        tabindex: "-1",
        "aria-label": pairSentence(measure, i, j),
      },
      mark(measure, difference, corrected),
    );
  };
  return make(
    "table",
    {
      class: `matrix ${runs.length > 24 ? "dense" : ""}`,
      role: "grid",
      "aria-label": `Differences of ${data.measures[measure]}, row minus column`,
    },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        make("th", { scope: "col" }, "run, by rank"),
        ...runs.map((run) =>
          make(
            "th",
            { scope: "col", title: data.runs[run] },
            String(ranks.get(run)),
            make("span", { class: "unseen" }, ` ${data.runs[run]}`),
          ),
        ),
      ),
    ),
    make(
      "tbody",
      {},
      ...runs.map((i) =>
        make(
          "tr",
          {},
          make(
            "th",
            { scope: "row" },
            make("span", { class: "rank" }, String(ranks.get(i))),
            cut(data.runs[i]),
          ),
          ...runs.map((j) => cell(i, j)),
        ),
      ),
    ),
  );
}

/**
 * Opens a pair, and perhaps a query of it; the section of differences sets it.
 * @type {(measure: number, i: number, j: number, query?: number | null, focus?: boolean) => void}
 */
let openPair = () => {};

function differencesSection(section) {
  const place = section.querySelector(".place");
  if (runCount < 2) {
    place.replaceChildren(make("p", {}, "There is only one run, so there are no differences."));
    return;
  }
  const state = { measure: 0, filter: "", pair: null, content: null, opener: null };
  const [holder, note, panel] = [
    make("div"),
    make("p", { class: "about" }),
    make("div", { class: "panel", hidden: true }),
  ];

  const redraw = () => {
    const order = bestFirst(state.measure);
    const matching = order.filter((run) => data.runs[run].toLowerCase().includes(state.filter));
    const runs = matching.slice(0, MOST_RUNS);
    const box = scrolling("Matrix of differences", matrixTable(state.measure, runs));
    navigable(
      box,
      () => [...box.querySelectorAll("tbody tr")].map((row) => [...row.children].slice(1)),
      (item) => {
        if (item.dataset.first === item.dataset.second) return;
        state.opener = item;
        openPair(state.measure, Number(item.dataset.first), Number(item.dataset.second), null, true);
      },
    );
    holder.replaceChildren(box);
    const beyond = `The matrix shows the best ${runs.length} of ${matching.length} runs. Filter to see others.`;
    const some = matching.length < runCount ? `${matching.length} of ${counted(runCount, "run")}.` : "";
    note.textContent = matching.length > runs.length ? beyond : some;
  };

  const close = () => {
    state.pair = null;
    panel.hidden = true;
    panel.replaceChildren();
    const opener = state.opener?.isConnected
      ? state.opener
      : holder.querySelector("[data-item][tabindex='0']");
    opener?.focus();
    announce("The pair is closed.");
  };

  openPair = (measure, i, j, query = null, focus = false) => {
    if (measure !== state.measure) {
      state.measure = measure;
      controls.querySelector("select").value = measure;
      redraw();
    }
    state.pair = [i, j];
    [first.querySelector("select").value, second.querySelector("select").value] = [i, j];
    state.content = pairContent(measure, i, j, close);
    panel.replaceChildren(...state.content.children);
    panel.hidden = false;
    if (focus) panel.querySelector("h3").focus();
    if (query !== null) state.content.openQuery(query);
    else if (focus) panel.scrollIntoView({ block: "nearest" });
  };

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || panel.hidden || event.defaultPrevented) return;
    event.preventDefault();
    if (!state.content.closeQuery()) close();
    hideTip();
  });

  const chosenRuns = () => [first, second].map((each) => Number(each.querySelector("select").value));
  const change = () => {
    const [i, j] = chosenRuns();
    if (i === j) announce("Choose two different runs.");
    else openPair(state.measure, i, j);
  };
  const best = bestFirst(0);
  const first = choice("Compare", runOptions(), best[0], change);
  const second = choice("with", runOptions(), best[1], change);
  const open = make("button", { type: "button" }, "Open the pair");
  open.addEventListener("click", () => {
    const [i, j] = chosenRuns();
    state.opener = open;
    if (i === j) announce("Choose two different runs.");
    else openPair(state.measure, i, j, null, true);
  });
  const printed = make("p", { class: "printed" }, `By ${data.measures[0]}.`);
  const controls = make(
    "div",
    { class: "controls" },
    measureChoice(0, (measure) => {
      state.measure = measure;
      printed.textContent = `By ${data.measures[measure]}.`;
      redraw();
      announce(`Measure: ${data.measures[measure]}.`);
      if (state.pair) openPair(measure, state.pair[0], state.pair[1]);
    }),
    runCount > 8
      ? search("Runs with", (text) => {
          state.filter = text;
          redraw();
          announce(note.textContent || `All ${counted(runCount, "run")}.`);
        })
      : "",
    first,
    second,
    open,
  );
  const legend = make(
    "ul",
    { class: "legend" },
    make(
      "li",
      {},
      make(
        "span",
        { class: "swatches", "aria-hidden": "true" },
        ...["down-4", "down-2", "even", "up-2", "up-4"].map((kind) => make("i", { class: kind })),
      ),
      make("span", {}, "the run of the row is worse (red) or better (blue) than the run of the column"),
    ),
    data.pairs
      ? make(
          "li",
          {},
          make("span", { class: "sample" }, "▲ ▼"),
          make(
            "span",
            {},
            `significant: p ≤ ${axisNumber(1 - data.level)} (${data.pairs.test}, ${runCount > 2 ? `${data.pairs.correction}'s correction over ${counted((runCount * (runCount - 1)) / 2, "pair")}` : "one pair, so no correction"})`,
          ),
        )
      : "",
  );
  place.replaceChildren(
    controls,
    printed,
    note,
    holder,
    legend,
    make("p", { class: "about hint" }, "A click or Enter on a cell opens the pair. Escape closes it."),
    panel,
  );
  redraw();
}
