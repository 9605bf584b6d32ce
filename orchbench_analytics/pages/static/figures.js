// Figures: how numbers are written, how rows are put in order, and the scales of charts. All pure.

const isAbsent = (value) => value === null || value === undefined;
const keyOf = (...parts) => JSON.stringify(parts);
const plain = (name) => (name ?? "").replaceAll("_", " ");
const minus = (text) => text.replace("-", "−");
const count = (value) => (isAbsent(value) ? "–" : value.toLocaleString("en"));
const many = (number, one, more = `${one}s`) => `${count(number)} ${number === 1 ? one : more}`;
const fixed = (value, digits = 2) => (isAbsent(value) ? "–" : minus(value.toFixed(digits)));
// A share from 0 to 1 in points of 100.
const points = (value) => (isAbsent(value) ? "–" : (100 * value).toFixed(1));
const signed = (value) => (isAbsent(value) ? "–" : minus(`${value > 0 ? "+" : ""}${(100 * value).toFixed(1)}`));
const percent = (value) => (isAbsent(value) ? "–" : `${(100 * value).toFixed(1)} %`);
const inOrder = new Intl.Collator("en", { numeric: true }).compare;
const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

// How each kind of column is written, and with more digits for those who point at it.
const WRITERS = {
  count, points, signed, percent,
  flag: (value) => (value ? "yes" : ""),
  p: (value) => fixed(value, 4),
  decimal: (value) => (isAbsent(value) ? "–" : Math.abs(value) >= 1000 ? count(Math.round(value)) : minus(String(+value.toPrecision(4)))),
};
const written = (show, value) => (WRITERS[show] ?? String)(value);
const exactly = (show, value) =>
  (["points", "signed", "percent"].includes(show) && !isAbsent(value) ? minus(value.toFixed(4)) : null);

function grouped(rows, keys) {
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(...keys.map((name) => row[name]));
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return [...groups.values()];
}
const distinct = (rows, name) => [...new Set(rows.map((row) => row[name]))];

function sortedRows(rows, { value, isFalling }) {
  const ordered = (first, second) => {
    const [a, b] = [value(first), value(second)];
    if (isAbsent(a) || isAbsent(b)) return isAbsent(a) - isAbsent(b);
    const order = typeof a === "number" && typeof b === "number" ? a - b : inOrder(`${a}`, `${b}`);
    return isFalling ? -order : order;
  };
  return [...rows].sort(ordered);
}

// From where to where a chart of intervals goes. A few models far below all others (at most a
// quarter, below a gap of more than half the range) do not stretch it: they get an arrow.
function domainOf(rows, name = "average_score") {
  const known = rows.filter((row) => !isAbsent(row[name])).sort((x, y) => y[name] - x[name]);
  if (!known.length) return [0, 1];
  let kept = known;
  const least = Math.ceil(known.length * 0.75);
  for (let place = known.length - 1; place >= Math.max(least, 1); place--) {
    const gap = known[place - 1][name] - known[place][name];
    if (gap > (known[0][name] - known[place][name]) / 2) kept = known.slice(0, place);
  }
  const low = Math.min(...kept.map((row) => row.low ?? row[name]));
  const high = Math.max(...kept.map((row) => row.high ?? row[name]));
  return low < high ? [low, high] : [low - 0.01, high + 0.01];
}

function roundTicks(low, high, most = 5) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((found) => found >= rough);
  const ticks = [];
  for (let tick = Math.ceil(low / step - 1e-9); tick * step <= high + 1e-12; tick++) ticks.push(+(tick * step).toPrecision(12));
  return ticks;
}

function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(low); power <= high; power++) {
    for (const part of [1, 3]) ticks.push(part * 10 ** power);
  }
  return ticks.filter((tick) => Math.log10(tick) >= low && Math.log10(tick) <= high);
}

// A scale with round ticks; logarithmic where values differ by more than a factor of 20.
function scale(values, from, to, { mayBeLog = false }) {
  const [least, greatest] = [Math.min(...values), Math.max(...values)];
  const isLog = mayBeLog && least > 0 && greatest / least > 20;
  const turn = isLog ? Math.log10 : (value) => value;
  const margin = (turn(greatest) - turn(least)) * 0.06 || Math.abs(turn(greatest)) * 0.1 || 1;
  const [low, high] = [turn(least) - margin, turn(greatest) + margin];
  const at = (value) => from + ((to - from) * (turn(value) - low)) / (high - low);
  return { at, ticks: isLog ? logTicks(low, high) : roundTicks(low, high) };
}

// What a word of a query may go on to: tables and views, and columns, those of tables that the query names first.
function completed(word, query, relations, columns, most = 10) {
  if (word.length < 2) return [];
  const bare = word.toLowerCase().replace(/^main\./, "");
  const isNamed = new Map(relations.map((name) => [name, new RegExp(`\\b${name}\\b`, "i").test(query)]));
  const tables = relations.filter((name) => name.startsWith(bare)).map((name) => `main.${name}`);
  const fitting = columns.filter((row) => !word.includes(".") && row.column.startsWith(bare));
  const own = fitting.filter((row) => isNamed.get(row.relation)).map((row) => row.column);
  return [...new Set([...own, ...tables, ...fitting.map((row) => row.column)])].filter((name) => name !== word).slice(0, most);
}
