// Pieces: packed tables inside the page, or in scripts beside it, unpacked when they are asked for.

class Table {
  constructor({ count, columns }) {
    this.count = count;
    this.columns = columns;
  }

  value(name, row) {
    const column = this.columns[name];
    if (!column) return null;
    if (column.values) return column.values[row];
    const code = column.codes[row];
    return code < 0 ? null : column.words[code];
  }

  row(number) {
    const found = { number };
    for (const name of Object.keys(this.columns)) found[name] = this.value(name, number);
    return found;
  }

  // The rows whose columns have the values given; a value of null or undefined asks for nothing.
  rows(wanted = {}) {
    const tests = Object.entries(wanted).filter(([, value]) => !isAbsent(value));
    const numbers = [];
    for (let row = 0; row < this.count; row++) {
      if (tests.every(([name, value]) => this.value(name, row) === value)) numbers.push(row);
    }
    return numbers.map((number) => this.row(number));
  }

  // Row numbers by the values of some columns.
  index(...names) {
    const found = new Map();
    for (let row = 0; row < this.count; row++) {
      const key = keyOf(...names.map((name) => this.value(name, row)));
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(row);
    }
    return found;
  }
}

const keyOf = (...parts) => JSON.stringify(parts);
const isAbsent = (value) => value === null || value === undefined;
const EMPTY_TABLE = new Table({ count: 0, columns: {} });
const unpacked = new Map();
const awaited = new Map();

// What the script of a piece calls with its text.
globalThis.takePiece = (name, text) => {
  awaited.get(name)?.(text);
  awaited.delete(name);
};

function piece(name) {
  if (!unpacked.has(name)) unpacked.set(name, packedText(name).then(unpack));
  return unpacked.get(name);
}

function packedText(name) {
  const inside = document.querySelector(`script[data-piece="${name}"]`);
  if (inside) return Promise.resolve(inside.textContent);
  return new Promise((resolve, reject) => {
    awaited.set(name, resolve);
    const script = document.createElement("script");
    script.src = `pieces/${name}.js`;
    script.addEventListener("error", () => reject(new Error(`pieces/${name}.js is not there`)));
    document.head.append(script);
  });
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return withTables(JSON.parse(await new Response(stream).text()));
}

// Tables in place of what describes them, one level down.
function withTables(value) {
  if (Array.isArray(value)) return value;
  const isTable = (item) => item !== null && typeof item === "object" && "columns" in item;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, isTable(item) ? new Table(item) : item]),
  );
}
