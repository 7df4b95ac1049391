"use strict";

let browser = null; // of transcripts

// A link to a transcript: #transcripts?left=distilled&right=grpo&question=cheap-1
function followLink() {
  const [place, query] = location.hash.slice(1).split("?");
  if (place !== "transcripts" || !query || !browser) return;
  browser.open(Object.fromEntries(new URLSearchParams(query)));
  document.getElementById("transcripts").scrollIntoView();
  document.getElementById("transcript").focus({ preventScroll: true });
}

// Mark the section that is read now in the navigation.
function followReading() {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) seen[entry.isIntersecting ? "add" : "delete"](entry.target.id);
    const first = [...links.keys()].find((name) => seen.has(name));
    for (const [name, link] of links) {
      if (name === first) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }, { rootMargin: "-15% 0px -60% 0px" });
  for (const section of document.querySelectorAll("main > section")) observer.observe(section);
  return observer;
}

// A page that is watched: ask for changes, and replace the sections in which there are some.
function watchForChanges(reading) {
  const freshness = document.getElementById("freshness");
  let version = null;
  async function look() {
    try {
      const answer = await fetch("version", { cache: "no-store" });
      const told = await answer.json();
      if (!answer.ok) throw new Error(told.error);
      if (version !== null && told.version !== version) await replaceSections(reading);
      version = told.version;
      freshness.textContent = "Watching";
    } catch (error) {
      freshness.textContent = error instanceof TypeError ? "The server has ended" : error.message;
    }
    setTimeout(look, 2000);
  }
  look();
}

async function replaceSections(reading) {
  const text = await (await fetch(".", { cache: "no-store" })).text();
  const fresh = new DOMParser().parseFromString(text, "text/html"); // inert: no script of it runs
  for (const section of document.querySelectorAll("main > section")) {
    const other = fresh.getElementById(section.id);
    if (!other || other.dataset.digest === section.dataset.digest) continue;
    const opened = [...section.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent);
    const focused = section.contains(document.activeElement) ? document.activeElement.id || document.activeElement.name : "";
    const pair = section.querySelector("#pair")?.value;
    const state = section.id === "transcripts" ? browser?.state() : null;
    const height = section.offsetHeight;
    section.style.minHeight = `${height}px`; // so that what is below does not jump while charts are drawn
    forgetCharts(section);
    section.replaceChildren(...document.adoptNode(other).childNodes);
    section.dataset.digest = other.dataset.digest;
    for (const summary of section.querySelectorAll("details > summary")) {
      summary.parentElement.open = opened.includes(summary.textContent);
    }
    if (section.id === "transcripts") browser = startTranscripts(section, state);
    await drawCharts(section);
    startPairs(section, pair);
    section.style.minHeight = "";
    if (focused) section.querySelector(`#${CSS.escape(focused)}, [name="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
}

async function start() {
  startTheme();
  browser = startTranscripts(document.getElementById("transcripts"), null);
  const reading = followReading();
  addEventListener("hashchange", followLink);
  await drawCharts(document);
  startPairs(document.getElementById("types"), null);
  followLink();
  document.documentElement.dataset.ready = "yes";
  if (document.documentElement.dataset.live === "yes") watchForChanges(reading);
}

start();
