// The data of the report, and what is computed from it.
// Texts go into the page as text nodes and attributes only, never as HTML.

/** @type {PageData} */
const data = JSON.parse(document.getElementById("data").textContent);
const runCount = data.runs.length;

/** What the reader chose for the whole page: the run that others are compared with, or null. */
const chosen = { baseline: data.baseline ?? null };

/** @type {(value: unknown) => value is number} */
const known = (value) => typeof value === "number" && Number.isFinite(value);

/**
 * A number with four decimals and a real minus sign; a dash for what is not known.
 * @param {number | null | undefined} value
 */
function shown(value, digits = 4) {
  if (!known(value)) return "–";
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/**
 * A difference, with its sign.
 * @param {number | null} value
 */
function signed(value) {
  const text = shown(value);
  return known(value) && value > 0 && Number(text) !== 0 ? `+${text}` : text;
}

/** @param {number | null} value */
function shownP(value) {
  if (!known(value)) return "–";
  return value < 0.0001 ? "< 0.0001" : value.toFixed(4);
}

/** @param {number | null} value */
const percent = (value) => (known(value) ? `${(100 * value).toFixed(1)} %` : "–");

/** @type {(count: number, noun: string) => string} */
const counted = (count, noun) => `${count} ${count === 1 ? noun : noun.replace(/y$/, "ie") + "s"}`;

/**
 * Compares numbers, smallest first; what is not known comes last in either direction.
 * @param {number | null | undefined} a
 * @param {number | null | undefined} b
 */
function byNumber(a, b, direction = 1) {
  if (!known(a) || !known(b)) return Number(known(b)) - Number(known(a));
  return direction * (a - b);
}

const byName = new Intl.Collator("en", { numeric: true }).compare;

/**
 * 1 if a higher score is better or no direction is known, −1 if a lower score is better.
 * @param {number} measure
 */
const direction = (measure) => (data.directions[measure] < 0 ? -1 : 1);

/**
 * The runs by their means, the best first.
 * @param {number} measure
 */
function bestFirst(measure) {
  const means = data.means[measure];
  const indices = data.runs.map((_, run) => run);
  return indices.sort((a, b) => byNumber(means[a], means[b], -direction(measure)) || a - b);
}

/**
 * The least and the greatest number among some, or null.
 * @param {Iterable<number | null | undefined>} values
 */
function extent(values) {
  let least = Infinity;
  let greatest = -Infinity;
  for (const value of values) {
    if (!known(value)) continue;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return least <= greatest ? [least, greatest] : null;
}

/** @type {(i: number, j: number) => number} */
const pairAt = (i, j) => i * runCount - (i * (i + 1)) / 2 + j - i - 1;

/**
 * What is known of two runs by a measure, whichever comes first.
 * @param {"difference" | "p" | "corrected" | "wins" | "ties" | "losses"} key
 * @param {number} measure
 * @param {number} i
 * @param {number} j
 */
const pairValue = (key, measure, i, j) =>
  data.pairs?.[key]?.[measure]?.[i < j ? pairAt(i, j) : pairAt(j, i)] ?? null;

/**
 * The differences of two runs, query by query; null where a score is not known.
 * @param {number} measure
 * @param {number} i
 * @param {number} j
 */
function differences(measure, i, j) {
  const [first, second] = [data.values[measure][i], data.values[measure][j]];
  return first.map((value, query) => (known(value) && known(second[query]) ? value - second[query] : null));
}

/**
 * Everything known of two different runs by a measure, seen from run i.
 * @param {number} measure
 * @param {number} i
 * @param {number} j
 */
function comparison(measure, i, j) {
  const counts = [pairValue("wins", measure, i, j), pairValue("losses", measure, i, j)];
  const [wins, losses] = i < j ? counts : counts.reverse();
  const [first, second] = [data.means[measure][i], data.means[measure][j]];
  // Over the queries that all runs have, as the tests are; the means are each over a run's own queries.
  const shared = pairValue("difference", measure, i, j);
  const own = known(first) && known(second) ? first - second : null;
  return {
    difference: known(shared) ? (i < j ? shared : -shared) : own,
    p: pairValue("p", measure, i, j),
    corrected: pairValue("corrected", measure, i, j),
    wins,
    losses,
    ties: pairValue("ties", measure, i, j),
  };
}

/** @param {number | null} p */
const significant = (p) => known(p) && p <= 1 - data.level;

/**
 * ▲ for a better run, ▼ for a worse one, ◆ where the measure has no direction; "" if not significant.
 * @param {number} measure
 * @param {number | null} difference
 * @param {number | null} p
 */
function mark(measure, difference, p) {
  if (!significant(p) || !difference) return "";
  if (data.directions[measure] === 0) return "◆";
  return difference * direction(measure) > 0 ? "▲" : "▼";
}

/**
 * Holm's correction of those p-values that are known.
 * @param {(number | null)[]} values
 * @returns {(number | null)[]}
 */
function holm(values) {
  const order = values.map((_, at) => at).filter((at) => known(values[at]));
  order.sort((a, b) => values[a] - values[b]);
  const corrected = values.map(() => null);
  let greatest = 0;
  order.forEach((at, step) => {
    greatest = Math.max(greatest, values[at] * (order.length - step));
    corrected[at] = Math.min(1, greatest);
  });
  return corrected;
}

/**
 * The p-value of each run against the baseline, corrected within the runs that are compared.
 * @param {number} measure
 * @param {number} baseline
 */
function againstBaseline(measure, baseline) {
  const values = data.runs.map((_, run) =>
    run === baseline ? null : pairValue("p", measure, run, baseline),
  );
  return holm(values);
}
