// Follows the controls: asks the server for the same worksheet, and puts its answer in place. It computes nothing.
"use strict";

(() => {
  const WAIT_MS = 150;
  const LONGEST_QUERY = 4000;
  const AWAY = "The gateway does not answer. What stands here is of an earlier entry.";

  // What differs from the defaults, as a query. The server takes the rest for the same.
  function entered(form) {
    const told = new URLSearchParams();
    for (const [name, text] of new FormData(form)) {
      const fallback = form.querySelector(`[name="${name}"]`).dataset.default ?? "";
      if (text.trim() !== "" && text.trim() !== fallback) told.append(name, text);
    }
    return told.toString();
  }

  function request(form, query, signal) {
    const headers = { Accept: "text/html", Prefer: "return=minimal" };
    const common = { headers, signal, credentials: "omit", cache: "no-store", redirect: "error" };
    const address = new URL(form.action).pathname;
    if (query.length <= LONGEST_QUERY) return fetch(query ? `${address}?${query}` : address, common);
    return fetch(address, { ...common, method: "POST", body: new URLSearchParams(query) });
  }

  function show(section, answered) {
    for (const part of answered.querySelectorAll("[data-part]")) {
      const place = section.querySelector(`[data-part="${part.dataset.part}"]`);
      if (place.innerHTML !== part.innerHTML) place.replaceChildren(...part.childNodes);
    }
    for (const told of answered.querySelectorAll("[data-fault]")) {
      section.querySelector(`[data-fault="${told.dataset.fault}"]`).textContent = told.textContent;
      const control = section.querySelector(`[aria-describedby~="${told.id}"]`);
      if (told.textContent) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    }
  }

  // Instead of a verdict. What stands below is faint until there is one again.
  function say(section, words) {
    const told = document.createElement("p");
    told.className = "verdict refused";
    told.textContent = words;
    section.querySelector('[data-part="verdict"]').replaceChildren(told);
  }

  function follow(section) {
    const form = section.querySelector("form");
    const results = section.querySelector(".results");
    let latest = 0;
    let timer = 0;
    let running = new AbortController();

    async function update() {
      clearTimeout(timer);
      running.abort();
      running = new AbortController();
      const mine = ++latest;
      const query = entered(form);
      results.classList.add("late");
      try {
        const answer = await request(form, query, running.signal);
        const text = await answer.text();
        if (mine !== latest) return; // a later entry has been sent meanwhile
        const page = new DOMParser().parseFromString(text, "text/html");
        if (answer.status !== 200 && answer.status !== 422) {
          say(section, page.querySelector('[role="alert"]')?.textContent ?? AWAY);
          return;
        }
        show(section, page.querySelector("[data-worksheet]"));
        remember(form, query);
        results.classList.remove("late");
      } catch (error) {
        if (mine === latest && error.name !== "AbortError") say(section, AWAY);
      }
    }

    form.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(update, WAIT_MS);
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      // In a narrow window what it comes to stands below the controls.
      update().then(() => results.querySelector(".pinned").scrollIntoView({ block: "nearest" }));
    });
    for (const control of form.querySelectorAll("[data-stops]")) slider(form, control);
  }

  // The address leads to what is shown, unless it would be too long for one.
  function remember(form, query) {
    if (query.length > LONGEST_QUERY) return;
    const address = new URL(form.action).pathname + (query ? `?${query}` : "");
    history.replaceState(null, "", address);
  }

  // Moves the control from one of the server's stops to the next. Any other number can still be typed.
  function slider(form, control) {
    const stops = control.dataset.stops.split(",");
    const range = document.createElement("input");
    const label = form.querySelector(`label[for="${control.id}"]`).textContent;
    Object.assign(range, { type: "range", min: 0, max: stops.length - 1, step: 1 });
    range.id = `${control.id}-slider`;
    range.setAttribute("aria-label", `${label}, in steps`);
    const follow = () => {
      const nearest = stops.findIndex((stop) => Number(stop) >= Number(control.value));
      range.value = nearest === -1 ? stops.length - 1 : nearest;
      range.setAttribute("aria-valuetext", control.value);
    };
    range.addEventListener("input", () => {
      control.value = stops[range.value];
      range.setAttribute("aria-valuetext", control.value);
    });
    control.addEventListener("input", follow);
    follow();
    control.after(range);
  }

  for (const section of document.querySelectorAll("[data-worksheet]")) follow(section);
})();
