// The live parser: steps through what the runtime recorded, or, where the report is served, through what it says of any text.
"use strict";
(() => {
  const section = document.getElementById("parser");
  if (!section) return;
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const kinds = { text: "k-content", reasoning: "k-reasoning", markup: "k-section m", call_start: "k-name m", call_end: "k-section m", arguments: "k-value", problem: "k-unexplained", end: "k-end m" };
  let replay = data.replay;
  let step = 0;
  let timer = 0;

  const put = (parent, tag, text, className) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    parent.append(made);
    return made;
  };

  // A number says how many characters at the end of the text so far are held back.
  function heldBack(count) {
    if (!count) return "";
    const { held } = replay.steps[count - 1];
    if (typeof held === "string") return held;
    const came = [...replay.steps.slice(0, count).map((one) => one.text).join("")];
    return came.slice(came.length - held).join("");
  }

  // What a client makes of the events so far. Arguments are text; they are JSON once a call is complete.
  function message(count) {
    const out = { role: "assistant", content: "" };
    const calls = [];
    for (const one of replay.steps.slice(0, count)) {
      for (const event of one.events) {
        if (event.event === "text") out.content += event.text;
        if (event.event === "reasoning") out.reasoning_content = (out.reasoning_content ?? "") + event.text;
        if (event.event === "call_start") calls[event.index] = { id: event.id, type: "function", function: { name: event.name, arguments: "" } };
        if (event.event === "arguments") calls[event.index].function.arguments += event.text;
        if (event.event === "call_end" && event.native_id) calls[event.index].id = event.native_id;
      }
    }
    if (calls.length) out.tool_calls = calls.filter(Boolean);
    return count === replay.steps.length ? replay.message : out;
  }

  function words(event) {
    if (event.event === "call_start") return `call ${event.index + 1} starts: ${event.name}`;
    if (event.event === "arguments") return `call ${event.index + 1} arguments: ${JSON.stringify(event.text)}`;
    if (event.event === "call_end") return `call ${event.index + 1} ends: ${event.status}`;
    if (event.event === "problem") return `${event.severity} ${event.kind}: ${event.message}`;
    if (event.event === "end") return `the turn is over: ${event.finish_reason}`;
    return `${event.event} ${JSON.stringify(event.text)}`;
  }

  function drawTape() {
    const tape = at("tape");
    tape.replaceChildren();
    const text = replay.steps.map((one) => one.text).join("");
    const came = replay.steps.slice(0, step).reduce((sum, one) => sum + one.text.length, 0);
    const now = step ? came - replay.steps[step - 1].text.length : came;
    const held = heldBack(step).length;
    const known = new Array(came).fill("");
    for (const one of replay.steps.slice(0, step)) {
      for (const event of one.events) known.fill(kinds[event.event], points(text, event.start), points(text, event.end));
    }
    if (replay.prompt) put(tape, "span", replay.prompt, "k-prompt");
    let from = 0;
    while (from < came) {
      const back = from >= came - held;
      let to = from + 1;
      while (to < came && known[to] === known[from] && to !== now && (to >= came - held) === back) to += 1;
      const look = back ? "heldback" : known[from] ? `s ${known[from]}` : "";
      put(tape, "span", text.slice(from, to), `${look}${from >= now ? " now" : ""}`);
      from = to;
    }
    put(tape, "span", text.slice(came), "rest");
  }

  // The runtime counts characters, a browser counts UTF-16 units.
  function points(text, offset) {
    if (offset <= 0) return 0;
    if (!/[\ud800-\udbff]/.test(text)) return offset;
    return [...text].slice(0, offset).join("").length;
  }

  function draw() {
    const all = replay.steps.length;
    const one = step ? replay.steps[step - 1] : { events: [] };
    drawTape();
    at("events").replaceChildren();
    for (const event of one.events) {
      const item = put(at("events"), "li", "");
      const [first, ...rest] = words(event).split(" ");
      put(item, "b", first);
      item.append(` ${rest.join(" ")}`);
    }
    if (!one.events.length) put(at("events"), "li", step ? "nothing yet: this delta says nothing that is certain" : "nothing has come in", "empty");
    at("held").textContent = heldBack(step);
    at("message").textContent = JSON.stringify(message(step), null, 2);
    at("at").value = String(step);
    at("place").value = `${step} of ${all}`;
    at("back").disabled = at("first").disabled = step === 0;
    at("next").disabled = at("last").disabled = step === all;
  }

  function go(to) {
    step = Math.max(0, Math.min(replay.steps.length, to));
    draw();
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    at("play").setAttribute("aria-pressed", "false");
    at("play").textContent = "Play";
  }
  function load(made) {
    stop();
    replay = made;
    at("at").max = String(replay.steps.length);
    go(0);
  }

  at("first").addEventListener("click", () => { stop(); go(0); });
  at("back").addEventListener("click", () => { stop(); go(step - 1); });
  at("next").addEventListener("click", () => { stop(); go(step + 1); });
  at("last").addEventListener("click", () => { stop(); go(replay.steps.length); });
  at("at").addEventListener("input", (event) => { stop(); go(Number(event.target.value)); });
  at("play").addEventListener("click", () => {
    if (timer) return stop();
    if (step === replay.steps.length) go(0);
    at("play").setAttribute("aria-pressed", "true");
    at("play").textContent = "Pause";
    timer = setInterval(() => {
      go(step + 1);
      if (step === replay.steps.length) stop();
    }, 180);
  });

  if (globalThis.REPORT_IS_SERVED) {
    at("offline").hidden = true;
    at("own-form").hidden = false;
    at("own-form").addEventListener("submit", async (event) => {
      event.preventDefault();
      const asked = { page: data.page, text: at("own-text").value, size: Number(at("own-size").value), prompt: Number(at("own-prompt").value || 0) };
      at("own-status").value = "parsing …";
      try {
        const answer = await fetch("/parse", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked) });
        const found = await answer.json();
        if (!answer.ok) throw new Error(found.error);
        load(found);
        at("own-status").value = `${found.steps.length} deltas; step through them above`;
        section.scrollIntoView();
      } catch (error) {
        at("own-status").value = String(error.message);
      }
    });
  }
  draw();
})();
