"use strict";

const SQL_TOKENS =
  /(?<comment>--[^\n]*|\/\*[^]*?(?:\*\/|$))|(?<string>'(?:[^']|'')*'?)|(?<name>"(?:[^"]|"")*"?|`[^`]*`?|\[[^\]]*\]?)|(?<word>[A-Za-z_]\w*)|(?<numeral>\d+(?:\.\d+)?)|(?<space>\s+)|(?<mark>[^])/g;
const SQL_WORDS = new Set(
  ("all and any as asc between by case cast collate cross current desc distinct else end escape except exists " +
    "filter following from full glob group having in inner intersect is join left like limit natural not null nulls " +
    "offset on or order outer over partition preceding range recursive right row rows select then unbounded union " +
    "using values when where window with").split(" "),
);
const SQL_CLAUSES = new Set(
  ("from where group having order limit union intersect except window join left right inner cross natural").split(" "),
);

// A query as a <pre> with its words marked. A clause outside of brackets begins a line; only white space is changed.
function sqlBlock(sql) {
  const code = element("code", "sql");
  let depth = 0;
  let before = "";
  let space = "";
  for (const { groups, 0: text } of sql.trim().matchAll(SQL_TOKENS)) {
    if (groups.space !== undefined) {
      space = text;
      continue;
    }
    const word = groups.word?.toLowerCase();
    const joined = word === "join" && ["left", "right", "inner", "cross", "outer", "natural", "full"].includes(before);
    if (space) code.append(depth === 0 && SQL_CLAUSES.has(word) && !joined ? "\n" : space);
    space = "";
    if (text === "(") depth += 1;
    if (text === ")") depth = Math.max(0, depth - 1);
    const kind = groups.comment !== undefined ? "comment" : groups.string !== undefined ? "string"
      : groups.numeral !== undefined ? "numeral" : SQL_WORDS.has(word) ? "keyword" : "";
    code.append(kind ? element("span", kind, text) : text);
    before = word ?? text;
  }
  return element("pre", "", code);
}

// A tool's result as a table where its lines are one, as text otherwise: a value may hold the separator too.
function resultBlock(text) {
  const lines = text.split("\n");
  const more = /^\(first \d+ rows, there are more\)$/.test(lines.at(-1)) ? lines.pop() : null;
  const rows = lines.map((line) => line.split(" | "));
  if (text.startsWith("Error: ") || rows.length < 2 || rows.some((row) => row.length !== rows[0].length)) {
    return element("pre", "", text);
  }
  const [head, ...body] = rows;
  const header = element("tr", "", ...head.map((name) => {
    const cell = element("th", "", name);
    cell.scope = "col";
    return cell;
  }));
  const table = element("table", "", element("thead", "", header), element("tbody", "", ...body.map((row) =>
    element("tr", "", ...row.map((value) => element("td", /^-?\d[\d.]*$/.test(value) ? "number" : "", value))))));
  return element("div", "", element("div", "scroll", table), more === null ? null : element("p", "muted", more));
}
