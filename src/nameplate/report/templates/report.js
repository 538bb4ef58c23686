(() => {
  "use strict";

  const unpacked = async (id) => {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };

  const runBundle = async () => {
    const script = document.createElement("script");
    script.textContent = await unpacked("nameplate-bundle");
    document.head.append(script);
  };

  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    made.textContent = text;
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  };

  // The layer whose points have most of the table's columns holds the measured points.
  const pointsOf = ({ spec, columns }) => {
    const known = (points) => columns.filter(([field]) => points.some((point) => field in point)).length;
    const sets = spec.data?.values ? [spec.data.values] : Object.values(spec.datasets);
    return sets.reduce((best, points) => (known(points) > known(best) ? points : best));
  };

  const fillTable = (details, chart) => {
    const points = pointsOf(chart);
    const columns = chart.columns.map(([field, heading]) => {
      const isNumber = points.some((point) => typeof point[field] === "number");
      return { field, heading, kind: isNumber ? { class: "number" } : {} };
    });
    const table = document.createElement("table");
    table.append(element("caption", details.dataset.name));
    const head = table.createTHead().insertRow();
    columns.forEach(({ heading, kind }) => head.append(element("th", heading, { scope: "col", ...kind })));
    const body = table.createTBody();
    for (const point of points) {
      const row = body.insertRow();
      columns.forEach(({ field, kind }) => row.append(element("td", point[field] ?? "–", kind)));
    }
    const frame = element("div", "", {
      class: "scroll short", tabindex: "0", role: "group", "aria-label": `Table: ${details.dataset.name}, data`,
    });
    frame.append(table);
    details.append(frame);
  };

  const readyTables = (charts) => {
    document.querySelectorAll("[data-points]").forEach((details) => {
      const fill = () => details.open && !details.querySelector("table") && fillTable(details, charts[details.dataset.points]);
      details.addEventListener("toggle", fill);
      fill();
    });
  };

  const drawIn = async (root, charts, theme) => {
    const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, config: theme };
    for (const place of root.querySelectorAll("[data-chart]:not([data-begun])")) {
      // A folded chart has no width.
      if (place.closest("details:not([open])")) continue;
      // Unfolding a second time must not draw the chart again.
      place.dataset.begun = "";
      await window.vegaEmbed(place, charts[place.dataset.chart].spec, options);
    }
  };

  const drawAll = async (charts, theme) => {
    await drawIn(document, charts, theme);
    document.querySelectorAll("details:has([data-chart])").forEach((details) => {
      details.addEventListener("toggle", () => details.open && drawIn(details, charts, theme).catch(warn));
    });
  };

  const readyPrinting = () => {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details.on-paper:not([open])")];
      opened.forEach((details) => { details.open = true; });
    });
    addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));
  };

  const readyUnfolding = () => {
    const button = document.getElementById("unfold");
    button.hidden = false;
    button.addEventListener("click", () => document.querySelectorAll("details").forEach((details) => { details.open = true; }));
  };

  const readyCopying = () => {
    document.querySelectorAll("code.again").forEach((code) => {
      const button = element("button", "Copy", { type: "button", class: "copy" });
      button.append(element("span", ` the command for ${code.dataset.name}`, { class: "hidden" }));
      code.after(" ", button);
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(code.textContent);
        button.classList.add("done");
        setTimeout(() => button.classList.remove("done"), 1500);
      });
    });
  };

  const warn = (error) => {
    const warning = document.getElementById("no-charts");
    warning.textContent = `Charts could not be drawn (${error.message}). Every value is in the tables.`;
    warning.hidden = false;
  };

  const start = async () => {
    if (navigator.clipboard) readyCopying();
    const { charts, theme } = JSON.parse(await unpacked("nameplate-charts"));
    readyTables(charts);
    readyPrinting();
    await runBundle();
    await drawAll(charts, theme);
    readyUnfolding();
    document.documentElement.dataset.charts = "drawn";
  };

  start().catch(warn);
})();
