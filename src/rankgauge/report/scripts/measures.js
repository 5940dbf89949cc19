// The measures: how far they agree on the runs, and how well they tell runs apart.

function measuresSection(section) {
  const parts = [agreementTable(), oppositeOrders(), powerTable(), swapTable()].filter(Boolean);
  const nothing = make("p", {}, "Agreement, discriminative power and swap rates were not computed.");
  section.querySelector(".place").replaceChildren(...(parts.length ? parts : [nothing]));
}

const explained = (title, text, content) =>
  make("div", { class: "part" }, make("h3", {}, title), make("p", { class: "about" }, text), content);

function agreementTable() {
  if (!data.agreement) return null;
  const { measures, tau } = data.agreement;
  const kind = (value) =>
    known(value) && value !== 0 ? `${value > 0 ? "up" : "down"}-${level(Math.abs(value), LEVELS)}` : "even";
  const rows = measures.map((name, i) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, cut(name)),
      ...measures.map((_, j) =>
        make(
          "td",
          { class: `number ${kind(tau[i][j])}`, title: `${name} and ${measures[j]}` },
          shown(tau[i][j]),
        ),
      ),
    ),
  );
  const table = make(
    "table",
    { class: "matrix numbers" },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        make("th", { scope: "col" }, "measure"),
        ...measures.map((name) => make("th", { scope: "col" }, cut(name))),
      ),
    ),
    make("tbody", {}, ...rows),
  );
  return explained(
    "Agreement",
    "Kendall’s τ-b between the rankings of the runs by two measures: 1 for the same order, 0 for unrelated orders, −1 for reversed orders.",
    scrolling("Agreement between measures", table),
  );
}

const MOST_LISTED = 100;

/** The pairs of runs that two measures put in opposite orders: the runs, the better one by the first first. */
function oppositePairs(one, other) {
  const ahead = (measure, i, j) => (data.means[measure][i] - data.means[measure][j]) * direction(measure);
  const pairs = [];
  for (let i = 0; i < runCount; i += 1)
    for (let j = i + 1; j < runCount; j += 1)
      if (ahead(one, i, j) * ahead(other, i, j) < 0) pairs.push(ahead(one, i, j) > 0 ? [i, j] : [j, i]);
  return pairs;
}

/** For each two measures, which pairs of runs they put in opposite orders. */
function oppositeOrders() {
  const all = (runCount * (runCount - 1)) / 2;
  const parts = [];
  data.measures.forEach((first, one) =>
    data.measures.slice(one + 1).forEach((second, step) => {
      const pairs = oppositePairs(one, one + 1 + step);
      if (!pairs.length) return;
      const more = pairs.length - MOST_LISTED;
      parts.push(
        make(
          "details",
          {},
          make("summary", {}, `${first} and ${second}: ${pairs.length} of ${counted(all, "pair")}`),
          make(
            "ul",
            { class: "opposite" },
            ...pairs
              .slice(0, MOST_LISTED)
              .map(([i, j]) =>
                make("li", {}, `${data.runs[i]} is above ${data.runs[j]} by ${first}, and below by ${second}`),
              ),
            more > 0 ? make("li", {}, `and ${counted(more, "more pair")}`) : "",
          ),
        ),
      );
    }),
  );
  if (!parts.length) return null;
  return explained("Opposite orders", "The pairs of runs that two measures rank in opposite orders.", make("div", {}, ...parts));
}

function powerTable() {
  if (!data.power?.length) return null;
  const bars = data.power.map(({ measure, significant: count, pairs, share }) => ({
    name: measure,
    value: share,
    text: percent(share),
    more: [`${count} of ${pairs}`],
  }));
  return explained(
    "Discriminative power",
    `The share of pairs of runs with a significant difference, p ≤ ${axisNumber(1 - data.level)}, not corrected.`,
    barTable("Discriminative power", ["measure", "share", "pairs"], bars, [0, 1]),
  );
}

function swapTable() {
  if (!data.swaps?.length) return null;
  const bars = data.swaps.map(({ measure, rate, low, high }) => ({
    name: measure,
    value: rate,
    low,
    high,
    text: percent(rate),
    more: known(low) ? [`${percent(low)} to ${percent(high)}`] : ["–"],
  }));
  const [, greatest] = extent(bars.flatMap(({ value, high }) => [0, value, high]));
  return explained(
    "Swap rates",
    "How often two halves of the queries rank two runs in opposite orders. Lower is more stable.",
    barTable("Swap rates", ["measure", "rate", `${axisNumber(100 * data.level)} % interval`], bars, [
      0,
      greatest || 1,
    ]),
  );
}
