// A pair of runs: its differences query by query, and both rankings of a query side by side.

/** Two runs: figures, the differences of all queries as sorted bars, and a table of them. */
function pairContent(measure, i, j, close) {
  const found = comparison(measure, i, j);
  const all = differences(measure, i, j);
  const queries = all.map((_, query) => query).filter((query) => known(all[query]));
  queries.sort((a, b) => byNumber(all[a], all[b], -direction(measure)) || a - b);
  const better = queries.filter((query) => all[query] * direction(measure) > 0).length;
  const worse = queries.filter((query) => all[query] * direction(measure) < 0).length;
  const [wins, losses] = known(found.wins) ? [found.wins, found.losses] : [better, worse];
  const facts = [
    [data.runs[i], shown(data.means[measure][i])],
    [data.runs[j], shown(data.means[measure][j])],
    ["difference", signed(found.difference)],
    ["p", shownP(found.p)],
    ["corrected p", shownP(found.corrected)],
    ["wins, ties, losses", `${wins}, ${found.ties ?? queries.length - wins - losses}, ${losses}`],
  ];
  const place = make("div", { class: "query" });
  let opener = null;
  const openQuery = (query, from = null) => {
    opener = from;
    place.replaceChildren(...queryContent(measure, i, j, query));
    place.querySelector("h4").focus({ preventScroll: true });
    place.scrollIntoView({ block: "nearest" });
  };
  /** Closes the query that is open; false if there is none. */
  const closeQuery = () => {
    if (!place.firstChild) return false;
    place.replaceChildren();
    if (opener?.isConnected) opener.focus();
    announce("The query is closed.");
    return true;
  };
  const button = make("button", { type: "button" }, "Close");
  button.addEventListener("click", close);
  const children = [
    make(
      "div",
      { class: "title" },
      make(
        "h3",
        { tabindex: "-1" },
        cut(data.runs[i]),
        " against ",
        cut(data.runs[j]),
        ` by ${data.measures[measure]}`,
      ),
      button,
    ),
    make(
      "dl",
      { class: "figures" },
      ...facts.map(([name, value]) => make("div", {}, make("dt", {}, cut(name)), make("dd", {}, value))),
    ),
  ];
  if (queries.length) {
    children.push(
      differenceBars(measure, queries, all, (query) => querySentence(measure, i, j, query), openQuery),
      make(
        "p",
        { class: "ends about" },
        make("span", {}, "← ", cut(data.runs[i]), " is better"),
        make("span", {}, cut(data.runs[j]), " is better →"),
      ),
      make("p", { class: "about hint" }, "A click or Enter on a bar opens the query."),
      place,
      differenceTable(measure, i, j, queries, all, openQuery),
    );
  } else children.push(make("p", {}, "No query has scores for both runs."));
  return { children, openQuery, closeQuery };
}

const queryText = (query) => data.queryTexts?.[query] ?? null;

function querySentence(measure, i, j, query) {
  const [first, second] = [data.values[measure][i][query], data.values[measure][j][query]];
  const text = queryText(query);
  return `Query ${data.queries[query]}${text ? `: ${text}` : ""}\n${signed(first - second)} = ${shown(first)} − ${shown(second)}`;
}

/** A bar for each query, the greatest win on the left. */
function differenceBars(measure, queries, all, sentence, act) {
  const [left, height] = [56, 200];
  const step = Math.max(6, Math.min(20, Math.floor(780 / queries.length)));
  const [least, greatest] = extent([0, ...queries.map((query) => all[query])]);
  const ends = least < greatest ? [least, greatest] : [-1, 1];
  const y = (value) => 10 + height - scale(ends, height)(value);
  const width = left + step * queries.length + 8;
  const chart = draw("svg", {
    class: "bars",
    width,
    height: height + 20,
    viewBox: `0 0 ${width} ${height + 20}`,
    role: "group",
    "aria-label": "Differences by query, sorted",
  });
  for (const value of ticks(ends, 4)) {
    chart.append(
      draw("line", {
        class: Math.abs(value) < 1e-9 ? "zero" : "gridline",
        x1: left,
        x2: width,
        y1: y(value),
        y2: y(value),
      }),
      draw(
        "text",
        { x: left - 8, y: y(value), "text-anchor": "end", "dominant-baseline": "middle" },
        axisNumber(value),
      ),
    );
  }
  queries.forEach((query, at) => {
    const value = all[query];
    const better = value * direction(measure) > 0;
    chart.append(
      draw(
        "g",
        {
          role: "button",
          tabindex: "-1",
          "data-item": true,
          "data-query": query,
          "aria-label": sentence(query),
        },
        draw("rect", { class: "hit", x: left + at * step, y: 0, width: step, height: height + 20 }),
        draw("rect", {
          class: better ? "better" : "worse",
          x: left + at * step + 1,
          y: Math.min(y(value), y(0)),
          width: step - 2,
          height: Math.max(1, Math.abs(y(value) - y(0))),
        }),
      ),
    );
  });
  navigable(
    chart,
    () => [[...chart.querySelectorAll("[data-item]")]],
    (item) => {
      for (const each of chart.querySelectorAll("[aria-pressed]")) each.removeAttribute("aria-pressed");
      item.setAttribute("aria-pressed", "true");
      act(Number(item.dataset.query), item);
    },
  );
  return make("div", { class: "scroll" }, chart);
}

function differenceTable(measure, i, j, queries, all, act) {
  const values = data.values[measure];
  const rows = queries.map((query) => {
    const button = make(
      "button",
      { type: "button", class: "plain", "aria-label": `Open query ${data.queries[query]}` },
      cut(data.queries[query]),
    );
    button.addEventListener("click", () => act(query, button));
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, button),
      data.queryTexts ? make("td", {}, queryText(query) ? cut(queryText(query)) : "") : "",
      ...[shown(values[i][query]), shown(values[j][query]), signed(all[query])].map((text) =>
        make("td", { class: "number" }, text),
      ),
    );
  });
  const heads = ["query", ...(data.queryTexts ? ["text"] : [])].map((name) =>
    make("th", { scope: "col" }, name),
  );
  const numbers = [cut(data.runs[i]), cut(data.runs[j]), "difference"].map((name) =>
    make("th", { scope: "col", class: "number" }, name),
  );
  return make(
    "details",
    {},
    make("summary", {}, `All ${counted(queries.length, "query")} as a table`),
    scrolling(
      "Differences by query",
      make("table", {}, make("thead", {}, make("tr", {}, ...heads, ...numbers)), make("tbody", {}, ...rows)),
      "tall",
    ),
  );
}

/** One query: its scores and the two rankings side by side. */
function queryContent(measure, i, j, query) {
  const text = queryText(query);
  const values = data.values[measure];
  const heading = make("h4", { tabindex: "-1" }, "Query ", cut(data.queries[query]));
  const scores = make(
    "p",
    {},
    `${data.measures[measure]}: `,
    cut(data.runs[i]),
    ` ${shown(values[i][query])}, `,
    cut(data.runs[j]),
    ` ${shown(values[j][query])}.`,
  );
  const children = [heading, ...(text ? [make("p", { class: "query-text" }, text)] : []), scores];
  if (!data.rankings)
    return [...children, make("p", { class: "about" }, "The report has no rankings.")];
  return [...children, ...rankingsSideBySide(i, j, query)];
}

function rankingsSideBySide(i, j, query) {
  const { depth, lists, left } = data.rankings;
  const [first, second] = [lists[i]?.[query] ?? [], lists[j]?.[query] ?? []];
  const rows = Math.max(first.length, second.length);
  const labels = data.rankings.labels?.[query] ?? {};
  const relevant = (document) => known(labels[document]) && labels[document] > 0;
  const links = draw("svg", {
    class: "links",
    viewBox: `0 0 100 ${rows || 1}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  first.forEach((document, at) => {
    const other = second.indexOf(document);
    if (other < 0) return;
    links.append(
      draw("line", {
        class: relevant(document) ? "relevant" : "",
        "data-document": document,
        x1: 0,
        y1: at + 0.5,
        x2: 100,
        y2: other + 0.5,
      }),
    );
  });
  const list = (run, own, other, words) =>
    make(
      "ol",
      { class: "ranking", "aria-label": `The first documents of ${data.runs[run]}` },
      ...own.map((document, at) =>
        rankedDocument(document, at, other.indexOf(document), words, labels[document]),
      ),
      ...Array.from({ length: rows - own.length }, () => make("li", { "aria-hidden": "true" })),
    );
  const box = make(
    "div",
    { class: "rankings" },
    make("h5", { class: "first" }, cut(data.runs[i])),
    make("h5", { class: "second" }, cut(data.runs[j])),
    list(i, first, second, { moved: "to", absent: "only here" }),
    links,
    list(j, second, first, { moved: "from", absent: "only here" }),
  );
  box.addEventListener("pointerover", (event) => {
    const under = event.target.closest("[data-document]")?.dataset.document;
    for (const each of box.querySelectorAll("[data-document]"))
      each.classList.toggle("on", each.dataset.document === under);
  });
  const whole = data.rankings.texts
    ? make(
        "div",
        { class: "controls" },
        tick("Whole texts", false, (checked) => box.classList.toggle("whole", checked)),
      )
    : "";
  const notes = [
    `The lists show the first ${counted(depth, "document")} of each run. “Only here” does not cover the documents below.`,
  ];
  if (left?.documents)
    notes.push(
      `Across all runs and queries, ${left.documents.toLocaleString("en")} documents are ranked lower and not included in this report.`,
    );
  if (left?.texts) notes.push(`${left.texts.toLocaleString("en")} texts were cut or omitted.`);
  return [whole, box, make("p", { class: "about" }, notes.join(" "))].filter(Boolean);
}

/** A document with its rank, label and place in the other list. */
function rankedDocument(document, at, other, words, label) {
  const name = data.rankings.documents[document];
  const text = data.rankings.texts?.[document];
  const move = other < 0 ? words.absent : other === at ? "same" : `${words.moved} ${other + 1}`;
  const kind = !known(label) ? "unjudged" : label > 0 ? "relevant" : "other";
  return make(
    "li",
    { "data-document": document, class: kind },
    make("span", { class: "rank" }, String(at + 1)),
    make(
      "span",
      { class: "label" },
      make("span", { class: "unseen" }, known(label) ? "label " : ""),
      known(label) ? String(label) : "unjudged",
    ),
    make("span", { class: "name" }, cut(name)),
    make("span", { class: `move ${other < 0 ? "alone" : ""}` }, move),
    text ? make("span", { class: "text" }, text) : "",
  );
}
