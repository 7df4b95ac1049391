"use strict";

const CHART_CONFIG = {
  background: "transparent",
  font: 'system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif',
  view: { stroke: null },
  aria: false, // the element around it has the words
  axis: {
    labelColor: "var(--muted)", titleColor: "var(--muted)", domainColor: "var(--line)", tickColor: "var(--line)",
    gridColor: "var(--line)", labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", gridWidth: 1,
    domain: false, ticks: false, labelPadding: 6,
  },
  text: { fontSize: 12 },
};
const drawn = new Map(); // the element of a drawing -> what vega-embed returned

// Draw every chart below `root`.
async function drawCharts(root) {
  for (const figure of root.querySelectorAll("figure.chart")) {
    const drawing = figure.querySelector(".drawing");
    const spec = JSON.parse(figure.querySelector("script.spec").textContent);
    try {
      // With `ast`, Vega interprets expressions; the page's policy forbids eval.
      const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, config: CHART_CONFIG };
      const place = drawing.appendChild(element("div")); // its own, since Vega gives it another role and label
      place.setAttribute("aria-hidden", "true");
      drawn.set(drawing, await vegaEmbed(place, spec, options));
    } catch (error) {
      drawing.textContent = `This chart cannot be drawn (${error.message}); its figures are in the table.`;
      console.error(error);
    }
  }
}

function forgetCharts(root) {
  for (const drawing of root.querySelectorAll(".drawing")) {
    drawn.get(drawing)?.finalize();
    drawn.delete(drawing);
  }
}

// The select of pairs: the chart's two parameters, and which tables are shown.
function startPairs(section, chosen) {
  const select = section.querySelector("#pair");
  if (!select) return;
  if (chosen && [...select.options].some((option) => option.value === chosen)) select.value = chosen;
  const show = () => {
    const [before, after] = select.value.split("/");
    for (const pair of section.querySelectorAll(".pair")) pair.hidden = pair.dataset.pair !== select.value;
    const drawing = section.querySelector("#chart-types .drawing");
    drawing.setAttribute("aria-label", `Accuracy of ${before} (ring) and ${after} (diamond), row by row.`);
    drawn.get(drawing)?.view.signal("before", before).signal("after", after).runAsync();
  };
  select.addEventListener("change", show);
  show();
}
