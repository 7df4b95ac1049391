"use strict";

const ATTEMPTS_A_PAGE = 50;
const FILTERS = ["left", "right", "split", "type", "outcome", "change", "text"];
const OUTCOME_MARKS = { correct: "✓", wrong_sql: "✗", never_submitted: "–", out_of_budget: "…", repeated_action: "↻",
  parse_failure: "?", turn_limit: "…", token_limit: "…", infrastructure: "!" };
const CALLS = { run_sql: "runs", submit_sql: "submits", inspect_schema: "inspects the schema" };
const words = (name) => name.split("_").map((word) => (word === "sql" ? "SQL" : word)).join(" ");

// The browser of transcripts in `section`. `state` is what an earlier one returned, so that a reader stays in place.
// Returns {state(), open(values)}: what it shows, and how to show something else. Of two checkpoints the one that was
// trained first stands first, so that a change always is from before to after.
function startTranscripts(section, state) {
  const holder = section.querySelector("#episodes");
  if (!holder) return null;
  const data = JSON.parse(holder.textContent);
  const form = section.querySelector("#filters");
  const list = section.querySelector("#attempts");
  const fields = Object.fromEntries(FILTERS.map((name) => [name, form.elements.namedItem(name)]));
  const named = (outcome) => data.outcomes?.[outcome] ?? words(outcome);
  const searched = new Map();
  let found = [];
  let page = 0;
  let current = null;

  const all = Object.values(data.episodes).flatMap((played) => Object.values(played));
  addOptions(fields.split, new Set(all.map((episode) => data.questions[episode.question].split)));
  addOptions(fields.outcome, new Set(all.map((episode) => episode.outcome)), named);
  offerTypes();

  // Only types of the split that is chosen.
  function offerTypes() {
    const chosen = fields.type.value;
    fields.type.length = 1;
    const shown = Object.values(data.questions).filter((each) => !fields.split.value || each.split === fields.split.value);
    addOptions(fields.type, new Set(shown.map((each) => each.type)));
    set(fields.type, chosen);
  }

  function text(checkpoint, id) {
    const key = `${checkpoint}/${id}`;
    if (!searched.has(key)) {
      const episode = data.episodes[checkpoint][id];
      const asked = data.questions[episode.question];
      const parts = [episode.question, asked.text, asked.type, episode.reason, ...episode.messages.flatMap((each) => each.slice(1))];
      searched.set(key, parts.join("\n").toLowerCase());
    }
    return searched.get(key);
  }

  function matches(id, wanted) {
    const left = data.episodes[wanted.left][id];
    const right = wanted.right ? data.episodes[wanted.right][id] : null;
    const asked = data.questions[left.question];
    const outcomes = pair(wanted).map((name) => data.episodes[name][id]?.outcome);
    if (wanted.split && asked.split !== wanted.split) return false;
    if (wanted.type && asked.type !== wanted.type) return false;
    if (wanted.outcome && !outcomes.includes(wanted.outcome)) return false;
    if (wanted.change && !(right && changed(wanted.change, ...outcomes))) return false;
    const sought = wanted.text.trim().toLowerCase();
    return !sought || text(wanted.left, id).includes(sought) || (right && text(wanted.right, id).includes(sought));
  }

  // The chosen checkpoints, one or two, in the order of training.
  function pair({ left, right }) {
    return Object.keys(data.episodes).filter((name) => name === left || name === right);
  }

  function filter() {
    fields.change.disabled = pair(values()).length < 2;
    if (fields.change.disabled) fields.change.value = "";
    offerTypes();
    const wanted = values();
    found = Object.keys(data.episodes[wanted.left]).filter((id) => matches(id, wanted));
    if (!found.includes(current)) current = found[0] ?? null;
    page = current === null ? 0 : Math.floor(found.indexOf(current) / ATTEMPTS_A_PAGE);
    showList();
    showTranscript();
  }

  const values = () => Object.fromEntries(FILTERS.map((name) => [name, fields[name].value]));

  function showList() {
    const { left } = values();
    const shown = pair(values());
    const first = page * ATTEMPTS_A_PAGE;
    list.replaceChildren(...found.slice(first, first + ATTEMPTS_A_PAGE).map((id) => {
      const episode = data.episodes[left][id];
      const asked = data.questions[episode.question];
      const marks = shown.map((name) => data.episodes[name][id]).filter(Boolean).map((each) => outcomeMark(each.outcome, named(each.outcome)));
      const button = element("button", "", element("span", "asked", asked.text || episode.question),
        element("span", "outcomes", marks[0], marks.length > 1 ? "→" : null, marks[1]),
        element("span", "muted", `${asked.split} · ${asked.type} · attempt ${episode.attempt + 1}`));
      button.type = "button";
      button.dataset.id = id;
      button.setAttribute("aria-current", String(id === current));
      return element("li", "", button);
    }));
    const last = Math.min(first + ATTEMPTS_A_PAGE, found.length);
    const total = Object.keys(data.episodes[left]).length;
    section.querySelector("#found").textContent = `${found.length.toLocaleString("en")} of ${total.toLocaleString("en")} attempts`;
    section.querySelector("#page").textContent = found.length ? `${first + 1}–${last} of ${found.length}` : "";
    section.querySelector("#earlier").disabled = page === 0;
    section.querySelector("#later").disabled = last >= found.length;
  }

  function showTranscript() {
    const place = section.querySelector("#transcript");
    if (current === null) {
      place.replaceChildren(element("p", "muted", "No attempt fits these filters."));
      return;
    }
    const { left, right } = values();
    const episode = data.episodes[left][current];
    const asked = data.questions[episode.question];
    const sides = pair(values()).filter((name) => data.episodes[name][current]);
    place.replaceChildren(...[
      element("h3", "", asked.text || episode.question),
      element("p", "muted", `${episode.question} · ${asked.split} · ${asked.type} · attempt ${episode.attempt + 1}`),
      asked.reference === null ? null : disclosure("Reference query", sqlBlock(asked.reference)),
      element("div", sides.length > 1 ? "sides two" : "sides", ...sides.map((name) => side(name, data.episodes[name][current]))),
      right && !data.episodes[right][current] ? element("p", "muted", `${right} made no such attempt.`) : null,
    ].filter((part) => part !== null));
  }

  function side(name, episode) {
    const steps = element("ol", "steps", ...episode.messages.map(step));
    const tokens = episode.sampled ? ` · ${episode.sampled} tokens sampled` : "";
    return element("div", "side",
      element("h4", "", name, outcomeMark(episode.outcome, named(episode.outcome))), steps,
      element("p", "muted", `${episode.reason ? `${episode.reason} · ` : ""}reward ${episode.reward}${tokens}`),
      episode.system === null ? null : disclosure("System prompt", element("pre", "", data.systems[episode.system])));
  }

  function show(id) {
    current = id;
    for (const button of list.querySelectorAll("button")) {
      button.setAttribute("aria-current", String(button.dataset.id === current));
    }
    showTranscript();
  }

  function turn(by) {
    page += by;
    showList();
    list.querySelector("button")?.focus({ preventScroll: true });
  }

  function open(wanted) {
    form.reset();
    // A type is only offered once its split is set.
    for (const name of FILTERS) if (wanted[name]) set(fields[name], wanted[name]);
    current = wanted.id ?? Object.keys(data.episodes[fields.left.value]).find(
      (id) => data.episodes[fields.left.value][id].question === wanted.question) ?? null;
    filter();
    list.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  }

  let waiting = 0;
  fields.text.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  form.addEventListener("change", (event) => event.target !== fields.text && filter());
  form.addEventListener("reset", () => setTimeout(filter));
  form.addEventListener("submit", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) show(button.dataset.id);
  });
  list.addEventListener("keydown", (event) => {
    const next = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const button = next && event.target.closest("li")?.[next]?.querySelector("button");
    if (!button) return;
    event.preventDefault();
    button.focus();
    show(button.dataset.id);
  });
  section.querySelector("#earlier").addEventListener("click", () => turn(-1));
  section.querySelector("#later").addEventListener("click", () => turn(1));
  open(state ?? {});
  return { open, state: () => ({ ...values(), id: current }) };
}

function step([role, text, written], place, steps) {
  if (Object.hasOwn(CALLS, role)) {
    return element("li", "", element("p", "who", CALLS[role]), text ? sqlBlock(text) : null,
      written === undefined ? null : disclosure("As the model wrote it", element("pre", "", written)));
  }
  if (role === "tool") {
    const rows = steps[place - 1]?.[0] !== "inspect_schema"; // a schema has lines too, but no header
    return element("li", "result", element("p", "who", "result"), rows ? resultBlock(text) : element("pre", "", text));
  }
  return element("li", "", element("p", "who", role === "assistant" ? "writes" : role), element("pre", "", text));
}

function outcomeMark(outcome, text) {
  return element("span", `outcome ${outcome.replaceAll("_", "-")}`, `${OUTCOME_MARKS[outcome] ?? ""} ${text}`);
}

function changed(kind, before, after) {
  if (kind === "differs") return before !== after;
  return kind === "gained" ? before !== "correct" && after === "correct" : before === "correct" && after !== "correct";
}

function disclosure(title, content) {
  return element("details", "", element("summary", "", title), content);
}

function addOptions(select, names, label = (name) => name) {
  for (const name of [...names].sort()) select.add(new Option(label(name), name));
}

// Choose a value if it is offered.
function set(field, value) {
  if (field.type === "search" || [...field.options].some((option) => option.value === value)) field.value = value;
}
