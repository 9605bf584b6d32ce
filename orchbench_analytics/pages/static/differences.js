// Differences of a label and an answer: calls argument by argument, texts line by line. All pure.

const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value) ?? "");

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // cut at the limit, or never JSON
  }
}

// The calls of a text as [{name, values}]; null where the text has another shape.
function callsOf(text) {
  const found = isAbsent(text) ? [] : parsed(text);
  if (!Array.isArray(found)) return null;
  return found.map((call) => {
    const { name, arguments: given } = call?.flat ?? call ?? {};
    const values = typeof given === "string" ? parsed(given) : given;
    const isObject = values !== null && typeof values === "object" && !Array.isArray(values);
    return { name: isAbsent(name) ? "nameless call" : asText(name),
      values: isObject ? values : isAbsent(given) ? {} : { "(arguments)": given } };
  });
}

// A row for each tool and argument of either side: {call, key, label, answer, isSame}. Calls pair up
// by name, in the order in which they come. Null where either text has another shape.
function callDifferences(labelText, answerText) {
  const [wanted, given] = [callsOf(labelText), callsOf(answerText)];
  if (!wanted || !given) return null;
  const free = [...given];
  const pairs = wanted.map((call) => {
    const place = free.findIndex((other) => other.name === call.name);
    return [call, place < 0 ? null : free.splice(place, 1)[0]];
  });
  // What is left over on both sides stands side by side.
  for (const pair of pairs) if (!pair[1] && free.length) pair[1] = free.shift();
  pairs.push(...free.map((call) => [null, call]));
  return pairs.flatMap(([label, answer], call) => {
    const row = (key, one, other) => ({ call, key, label: one, answer: other, isSame: one === other });
    const keys = [...new Set([...Object.keys(label?.values ?? {}), ...Object.keys(answer?.values ?? {})])];
    const value = (side, key) => (side && Object.hasOwn(side.values, key) ? asText(side.values[key]) : null);
    return [row(null, label?.name ?? null, answer?.name ?? null), ...keys.map((key) => row(key, value(label, key), value(answer, key)))];
  });
}

const MOST_COMPARED_LINES = 1500;

// The lines of two texts, each with whether the other has it at that place: [[{text, isSame}], […]].
function lineDifferences(label, answer) {
  const [left, right] = [label.split("\n"), answer.split("\n")];
  if (left.length > MOST_COMPARED_LINES || right.length > MOST_COMPARED_LINES) return null;
  const width = right.length + 1;
  const longest = new Uint16Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      longest[i * width + j] = left[i].trimEnd() === right[j].trimEnd() ? longest[(i + 1) * width + j + 1] + 1
        : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  const sides = [left.map((text) => ({ text, isSame: false })), right.map((text) => ({ text, isSame: false }))];
  for (let i = 0, j = 0; i < left.length && j < right.length;) {
    if (left[i].trimEnd() === right[j].trimEnd()) {
      sides[0][i++].isSame = true;
      sides[1][j++].isSame = true;
    } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i++;
    else j++;
  }
  return sides;
}
